"""Random networks with overlays that can be built again with other resources."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from topologies import AccessLinks, Overlay, Underlay, Workload, build_overlay, connectivity


@dataclass(frozen=True, kw_only=True)
class Case:
    """Inputs of an overlay; `with_` changes some and `build` starts from the underlay."""

    underlay: Underlay
    routers: list[int]
    up_bps: np.ndarray
    down_bps: np.ndarray
    bandwidth: Any
    latency: str
    work: Workload
    arcs: list[tuple[int, int]]
    hub: int | None
    blocked: tuple[tuple[int, int], ...] = ()

    def with_(self, *, core_bps: Any = None, **changes: Any) -> "Case":
        if core_bps is not None:
            changes["underlay"] = replace(self.underlay, capacity_bps=core_bps)
        return replace(self, **changes)

    def build(self) -> Overlay:
        graph = connectivity(
            self.underlay,
            access=AccessLinks(up_bps=self.up_bps, down_bps=self.down_bps),
            core="stated",
            bandwidth=self.bandwidth,
            latency=self.latency,
            routers=self.routers,
            blocked=self.blocked,
        )
        return build_overlay("test", graph, self.work, self.arcs, hub=self.hub)


@pytest.fixture(scope="session")
def random_case() -> Callable[..., Case]:
    """A small network with a random strong overlay; with `ties`, few different numbers, zeros among them."""

    def make(seed: int, *, ties: bool = False) -> Case:
        rng = np.random.default_rng(seed)
        routers, silos = int(rng.integers(2, 7)), int(rng.integers(2, 7))

        def pick(choices: list[float], low: float, high: float, size: int) -> np.ndarray:
            return rng.choice(choices, size) if ties else np.exp(rng.uniform(np.log(low), np.log(high), size))

        ends = [(int(rng.integers(0, i)), i) for i in range(1, routers)]
        ends += [tuple(rng.choice(routers, 2, replace=False).tolist()) for _ in range(3)]
        underlay = Underlay(
            name="test",
            variant="corrected",
            labels=tuple(f"r{i}" for i in range(routers)),
            latitude_deg=np.full(routers, np.nan),
            longitude_deg=np.full(routers, np.nan),
            ends=np.array(ends),
            length_km=pick([0.0, 0.0, 10.0, 4000.0], 10.0, 4000.0, len(ends)),
            capacity_bps=pick([1e8, 1e9], 1e8, 2e9, len(ends)),
        )
        order = rng.permutation(silos).tolist()
        hub = int(order[0]) if rng.random() < 0.3 else None
        if hub is None:
            arcs = set(zip(order, order[1:] + order[:1], strict=True))
        else:
            arcs = {pair for silo in order[1:] for pair in ((silo, hub), (hub, silo))}
        pairs = rng.integers(0, silos, (int(rng.integers(0, 2 * silos)), 2)).tolist()
        arcs |= {(i, j) for i, j in pairs if i != j}
        rules = ["hop_share", "bottleneck", pick([1e8, 1e9], 1e8, 2e9, silos**2).reshape(silos, silos)]
        outside = [(i, j) for i in range(silos) for j in range(silos) if i != j and (i, j) not in arcs]
        return Case(
            underlay=underlay,
            routers=rng.integers(0, routers, silos).tolist(),
            up_bps=pick([1e8, 1e9, 1e10, np.inf], 1e8, 1e10, silos),
            down_bps=pick([1e8, 1e9, 1e10, np.inf], 1e8, 1e10, silos),
            bandwidth=rules[int(rng.integers(0, 3))],
            latency=str(rng.choice(["per_path", "per_link"])),
            work=Workload(
                model_bits=float(rng.choice([0.0, 1e7, 1e7])) if ties else float(rng.uniform(1e6, 1e8)),
                compute_s=pick([0.0, 0.05], 0.001, 0.1, silos),
                local_steps=int(rng.integers(1, 4)),
                overlap=float(rng.choice([0.0, 0.9])),
            ),
            arcs=sorted(arcs),
            hub=hub,
            blocked=tuple(outside[:1]),
        )

    return make
