"""Every designer makes the overlays that were recorded: the same inputs and seed give the same arcs.

A search may change and still find valid overlays; this says that it found others. After a change that is meant, record
anew, and look at what differs::

    python tests/topologies/test_recorded_designs.py
"""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from simulator.designers import periodic_cost, simulated_cost
from topologies import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    AccessLinks,
    Connectivity,
    Underlay,
    Workload,
    connectivity,
    design,
    design_periodic,
    design_random,
    load_underlay,
)
from topologies.compiled_designs import many_designs
from topologies.consensus import spectral_gap
from topologies.designers.options import declared_options, progress_option
from topologies.errors import InputError

RECORDED = Path(__file__).with_name("recorded_designs.csv")
ROUNDS = 4
"""Of randomized overlays."""
SEARCH = {"iterations": 60}
"""Moves of annealing that take little time."""
SIMULATED = {"criterion": "simulated", "evaluations": 12, **SEARCH}
EFOLD = {"criterion": "time-to-accuracy", "evaluations": 12, **SEARCH}


@dataclass(frozen=True)
class Case:
    """A designer with options on a network."""

    kind: str
    network: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str, str]:
        """Its first columns."""
        shown = (f"{name}={value}" for name, value in self.options.items() if name != "proportions")
        return self.kind, self.network, " ".join(shown)


def underlay(
    name: str, routers: int, links: list[tuple[int, int]], length_km: Any, capacity_bps: Any
) -> Underlay:
    return Underlay(
        name=name,
        variant="corrected",
        labels=tuple(f"r{5 * i % routers:02}" for i in range(routers)),
        latitude_deg=np.full(routers, np.nan),
        longitude_deg=np.full(routers, np.nan),
        ends=np.array(links),
        length_km=np.array(length_km),
        capacity_bps=np.array(capacity_bps),
    )


def drawn(name: str, silos: int, *, seed: int, missing: int = 0) -> tuple[Connectivity, Workload]:
    """No two lengths, rates or computing times are equal, and arcs meet on links; some pairs cannot talk."""
    rng = np.random.default_rng(seed)
    routers = max(2, silos + silos // 5)
    links = [(int(rng.integers(max(0, i - 3), i)), i) for i in range(1, routers)]
    pairs = [pair for pair in itertools.combinations(range(routers), 2) if pair not in links]
    links += [pairs[k] for k in rng.choice(len(pairs), min(len(pairs), routers // 3), replace=False)]
    ordered = list(itertools.permutations(range(silos), 2))
    blocked = [ordered[k] for k in rng.choice(len(ordered), missing, replace=False)] if missing else []
    graph = connectivity(
        underlay(name, routers, links, rng.uniform(50, 4000, len(links)), rng.uniform(4e8, 2e9, len(links))),
        access=AccessLinks(up_bps=rng.uniform(3e8, 5e9, silos), down_bps=rng.uniform(5e8, 9e9, silos)),
        routers=rng.permutation(routers)[:silos],
        blocked=blocked,
    )
    return graph, Workload(model_bits=4.5e7, compute_s=rng.uniform(0.005, 0.06, silos))


@cache
def network(name: str) -> tuple[Connectivity, Workload]:
    """A small network with a workload."""
    drawings = {
        "one": {"silos": 1, "seed": 1},
        "two": {"silos": 2, "seed": 2},
        "three": {"silos": 3, "seed": 3},
        "eight": {"silos": 8, "seed": 8},
        "gaps": {"silos": 8, "seed": 9, "missing": 17},
        "twelve": {"silos": 12, "seed": 12},
        "holes": {"silos": 12, "seed": 13, "missing": 30},
    }
    if name in drawings:
        return drawn(name, **drawings[name])
    if name == "ties":
        # Powers of two, so that what is equal stays equal in every sum.
        links = [(i, (i + 1) % 6) for i in range(6)]
        graph = connectivity(
            underlay(name, 6, links, [0.0] * 6, [2.0**30] * 6),
            access=AccessLinks(up_bps=2.0**31, down_bps=2.0**31),
        )
        return graph, Workload(model_bits=2.0**26, compute_s=2.0**-5)
    graph = connectivity(load_underlay(name), access=AccessLinks(up_bps=1e9, down_bps=1.3e9))
    return graph, Workload.preset("inaturalist")


def shares(silos: int) -> np.ndarray:
    """Of five labels at each silo."""
    drawn_shares = np.random.default_rng(silos).random((silos, 5)) ** 3
    return drawn_shares / drawn_shares.sum(axis=1, keepdims=True)


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "star": [{"hub": hub} for hub in ("load", "closeness", "first", "r03", 2)],
    "ring": [{"restarts": 0}, {"seed": 3, "restarts": 20}, {"searches": 1}],
    "exponential": [{"order": "tour"}, {"order": "searched"}, {"order": "searched", "seed": 1}],
    "equi_static": [{"draws": 1, "seed": 1}, {"draws": 3}, {"draws": 3, "seed": 2, "order": "tour"}],
    "best": [
        {**SEARCH, "criterion": "serialized"},
        {**SEARCH, "criterion": "all"},
        {**SEARCH, "seed": 1},
        SIMULATED,
        {**SIMULATED, "evaluations": 5, "seed": 1},
        EFOLD,
        {**EFOLD, "evaluations": 0, "seed": 1},
    ],
    "one_peer_exponential": [{"order": "tour"}, {"order": "searched"}, {"order": "searched", "seed": 1}],
    "base": [{"k": 2}, {"k": 3, "order": "tour"}, {"order": "searched", "seed": 1}],
    "multigraph": [{"most_lag": 1}, {"most_lag": 2}],
    "hierarchical": [{"regions": 2, "cloud_every": 1}, {"regions": 4, "cloud_every": 2}],
    "best_periodic": [
        {"period": 1, "evaluations": 6, **SEARCH},
        {"period": 3, "evaluations": 6, **SEARCH},
        {"contraction": 0.9, "evaluations": 6, **SEARCH},
        {"contraction": 0.99, "evaluations": 12, "seed": 1, **SEARCH},
    ],
    **{
        kind: [{"budget": 0.1}, {"budget": 0.9}]
        for kind in ("matcha", "matcha_plus", "matcha_ring", "matcha_delta_mbst")
    },
    "equi_dyn": [{"eta": 0.25}, {"order": "tour"}, {"order": "searched", "seed": 1}],
    "epidemic": [{"fanout": 2}, {"fanout": 3}],
    "stl_fw": [{"k": 1}, {"k": 3}, {"variance_weight": 0.5}],
}  # fmt: skip
"""Beside the defaults."""
DEFAULTS = {"best": SEARCH, "best_periodic": {"evaluations": 6, **SEARCH}}
"""Where the designer's own would take long."""
NETWORKS = ("one", "two", "three", "ties", "eight", "gaps", "twelve", "holes", "gaia")
FEW = ("one", "two", "three", "ties", "eight")
"""Those that do not take long."""
DESIGNS = {**DESIGNERS, **PERIODIC_DESIGNERS, **RANDOM_DESIGNERS}
SHORT = ("star", "ring", "matcha_plus", "multigraph", "hierarchical", "epidemic")
"""Kinds whose options are tried on twelve silos, too: the others look for a ring first, which takes long there."""


def cases(kind: str) -> list[Case]:
    """Of one designer."""
    networks = FEW if kind == "best_periodic" else NETWORKS
    found = [Case(kind, name, DEFAULTS.get(kind, {})) for name in networks]
    found += [
        Case(kind, name, options)
        for name in (("eight", "twelve") if kind in SHORT else ("eight",))
        for options in OPTIONS.get(kind, ())
    ]
    return found


ALL = [case for kind in DESIGNS for case in cases(kind)]


def takes_long(case: Case) -> bool:
    """Whether the plain code, which `ring` and smaller networks run as well, takes a second for it."""
    return case.kind in ("best", "matcha_ring") and case.network in ("twelve", "holes")


def with_shares(case: Case) -> dict[str, Any]:
    """The options, with what a scenario would add."""
    silos = network(case.network)[0].silos
    return {**case.options, "proportions": shares(silos)} if case.kind == "stl_fw" else dict(case.options)


def arcs_text(source: np.ndarray, target: np.ndarray) -> str:
    return " ".join(f"{i}-{j}" for i, j in sorted(zip(source.tolist(), target.tolist(), strict=True)))


def made(case: Case, report: Callable[[float], None]) -> Iterator[str]:
    """Cycle time, how well the silos agree, and arcs; or why there is no such overlay."""
    graph, work = network(case.network)
    options = with_shares(case)
    if progress_option(DESIGNS[case.kind]):
        options["progress"] = report
    if case.kind in DESIGNERS:
        static = design(case.kind, graph, work, **options)
        yield f"{static.closed_forms.paper_s:.9g}"
        yield f"{spectral_gap(static.consensus):.6f}"
        yield arcs_text(static.source, static.target)
    elif case.kind in PERIODIC_DESIGNERS:
        periodic = design_periodic(case.kind, graph, work, **options)
        yield f"{periodic.closed_forms.paper_s:.9g}"
        product = np.eye(graph.silos)
        for state in periodic.states:
            product = state.consensus(graph.silos) @ product
        yield f"{np.linalg.norm(product - 1 / graph.silos, 2):.6f}"
        yield " | ".join(
            ("" if state.computes else "no computing ")
            + arcs_text(state.source, state.target)
            + ("" if (state.lag == 1).all() else f" lags {' '.join(map(str, state.lag.tolist()))}")
            for state in periodic.states
        )
    else:
        random = design_random(case.kind, graph, work, **options)
        yield " ".join(f"{p:.5f}" for p in getattr(random, "probability", ()))
        yield "" if random.spectral_norm is None else f"{random.spectral_norm:.6f}"
        rng = np.random.default_rng(5)
        yield " | ".join(arcs_text(*random.arcs(random.draw(rng, 0))) for _ in range(ROUNDS))


def row(case: Case) -> list[str]:
    """All columns of a case."""
    counted: Counter[str] = Counter()
    shares: list[float] = []

    def counting(owner: type, name: str) -> Any:
        whole = getattr(owner, name)

        def count(*given: Any) -> Any:
            counted[name] += 1
            return whole(*given)

        return mock.patch.object(owner, name, count)

    with ExitStack() as patches:
        for owner in (simulated_cost.SimulatedCost, periodic_cost.PeriodicCost):
            for method in ("bound", "simulated"):
                patches.enter_context(counting(owner, method))
        try:
            columns = list(made(case, shares.append))
        except InputError as error:
            columns = ["", "", str(error)]
    looked = f"{counted['bound']}/{counted['simulated']}" if counted else ""
    return [*case.name, *columns[:2], looked, " ".join(f"{share:.4g}" for share in shares), columns[2]]


COLUMNS = ("kind", "network", "options", "cycle_time_s", "mixing", "bounds/simulations", "progress", "arcs")


@cache
def recorded() -> dict[tuple[str, ...], list[str]]:
    """All rows by their first three columns."""
    rows = list(csv.reader(io.StringIO(RECORDED.read_text("utf-8"))))
    return {tuple(each[:3]): each for each in rows[1:]}


@pytest.mark.parametrize("case", ALL, ids=lambda case: "-".join(filter(None, case.name)))
def test_the_overlay_is_the_one_recorded(case):
    with many_designs() if takes_long(case) else nullcontext():
        assert row(case) == recorded()[case.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [*filter(takes_long, ALL)], ids=lambda case: "-".join(filter(None, case.name))
)
def test_plain_code_makes_the_one_that_compiled_code_makes(case):
    assert row(case) == recorded()[case.name]


@pytest.mark.parametrize("kind", DESIGNS)
def test_each_option_is_recorded_at_two_values_at_least(kind):
    for name, option in declared_options(DESIGNS[kind]).items():
        values = {repr(case.options.get(name, option.default)) for case in cases(kind)}
        assert len(values) >= 2, name


def test_nothing_is_recorded_that_is_not_made_any_more():
    assert set(recorded()) == {case.name for case in ALL}


def record() -> None:
    """Write the file anew."""
    with RECORDED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(map(row, ALL))


if __name__ == "__main__":
    record()
