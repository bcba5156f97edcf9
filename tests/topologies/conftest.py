"""Small networks and the published inputs."""

import importlib.resources
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topologies import AccessLinks, Connectivity, Underlay, connectivity, load_underlay
from topologies.compiled_designs import many_designs
from topologies.measured_pairs import MeasuredPairs

sys.path.insert(0, str(Path(__file__).parent))

Links = Sequence[tuple[int, int, float]]


@pytest.fixture(scope="module")
def compiled_designs() -> Iterator[None]:
    """Designs take compiled code here, too: for modules whose subject is something else."""
    with many_designs():
        yield


@pytest.fixture(scope="session")
def published() -> dict[str, Any]:
    """The paper's cycle-time tables."""
    path = importlib.resources.files("scenarios") / "data" / "published_cycle_times.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def make_underlay() -> Callable[..., Underlay]:
    """Underlay of the given routers and links (end, end, km)."""

    def make(
        routers: int,
        links: Links,
        *,
        labels: Sequence[str] | None = None,
        measured: MeasuredPairs | None = None,
    ) -> Underlay:
        return Underlay(
            name="test",
            variant="corrected",
            labels=tuple(labels or (f"r{i}" for i in range(routers))),
            latitude_deg=np.full(routers, np.nan),
            longitude_deg=np.full(routers, np.nan),
            ends=np.array([link[:2] for link in links], dtype=int).reshape(-1, 2),
            length_km=np.array([link[2] for link in links], dtype=float),
            capacity_bps=np.full(len(links), np.nan),
            measured=measured,
        )

    return make


@pytest.fixture(scope="session")
def few_silos(make_underlay: Callable[..., Underlay]) -> Callable[[int], Connectivity]:
    """Connectivity graph of up to three silos on three routers, two of them at one place."""

    def make(silos: int) -> Connectivity:
        return connectivity(
            make_underlay(3, [(0, 1, 100.0), (1, 2, 0.0)]),
            access=AccessLinks(up_bps=1e9, down_bps=1e9),
            routers=range(silos),
        )

    return make


@pytest.fixture(scope="session")
def published_graph() -> Callable[[str, float], Connectivity]:
    """Connectivity graph with the paper's inputs and equal access links."""

    def make(name: str, access_bps: float) -> Connectivity:
        underlay = load_underlay(name, variant="published")
        return connectivity(underlay, access=AccessLinks(up_bps=access_bps, down_bps=access_bps))

    return make
