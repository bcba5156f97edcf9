"""A circle with detours: what it keeps count of, against the structure's arcs alone."""

import itertools
import math

import numpy as np
import pytest

from topologies import AccessLinks, Workload, build_overlay, connectivity
from topologies.delays import transmissions
from topologies.designers.best_circle import PENALTY
from topologies.designers.best_detours import _MovingCircle

WORK = Workload(model_bits=4.5e7, compute_s=0.02)
EVERY_CRITERION = pytest.mark.parametrize("criterion", ["paper", "serialized", "all"])


def criterion_s(overlay, criterion):
    """The closed form that a criterion minimises."""
    forms = overlay.closed_forms
    return {
        "paper": forms.paper_s,
        "serialized": max(forms.paper_s, forms.serialized_s),
        "all": max(forms.paper_s, forms.serialized_s, forms.load_bound_s),
    }[criterion]


def structure(circle, tau):
    """Cost of each place, late arcs and excess crossings of a circle at a cycle time, from its arcs and Eq. 3."""
    graph, work = circle.graph, WORK
    overlay = build_overlay("circle", graph, work, sorted(circle.arcs()))
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    delay = dict(zip(arcs, overlay.delay_s.tolist(), strict=True))
    out, into = (np.bincount(ends, minlength=graph.silos) for ends in (overlay.source, overlay.target))
    costs = [0.0] * graph.silos
    for p, q in enumerate(circle.after):
        if q >= 0:
            paths = [list(itertools.pairwise((p, *path, q))) for path in circle.options[p]]
            costs[p] = max(sum(delay[arc] - tau for arc in path) for path in paths)
    late = excess = 0
    if circle.serialized:
        sending = [
            work.model_bits
            / min(graph.up_bps[i] / out[i], graph.down_bps[j] / into[j], graph.available_bps[i, j])
            for i, j in arcs
        ]
        late = sum(time >= tau * (1 - 1e-9) for time in sending)
    load = [0] * len(graph.core_bps) * 2
    if circle.shared:
        busy = transmissions(work.model_bits, np.repeat(graph.core_bps, 2)).tolist()
        for link in itertools.chain.from_iterable(graph.core_route(*arc) for arc in arcs):
            load[link] += 1
        # A link must be done with all its models before the cycle is over.
        excess = sum(
            sum(k * s >= tau * (1 - 1e-9) for k in range(1, n + 1)) for n, s in zip(load, busy, strict=True)
        )
    return costs, late, excess, load


def network(make_underlay, seed, silos=9):
    rng = np.random.default_rng(seed)
    pairs = [(i, i + 1) for i in range(silos - 1)]
    pairs += [tuple(rng.choice(silos, 2, replace=False).tolist()) for _ in range(4)]
    return connectivity(
        make_underlay(silos, [(i, j, float(rng.integers(1, 3000))) for i, j in pairs]),
        access=AccessLinks(
            up_bps=rng.choice((1e9, 1e10), silos), down_bps=rng.choice((2e9, 1e10, np.inf), silos)
        ),
    )


def started(graph, criterion):
    circle = _MovingCircle(graph, WORK, list(range(graph.silos)), criterion)
    circle.graph = graph
    circle.start()
    return circle


@EVERY_CRITERION
@pytest.mark.parametrize("seed", range(3))
def test_counts_after_many_moves_are_those_of_the_arcs_alone(make_underlay, criterion, seed):
    graph = network(make_underlay, seed)
    circle = started(graph, criterion)
    rng = np.random.default_rng(seed)
    near = [[j for j in range(graph.silos) if j != i] for i in range(graph.silos)]
    sizes, kept = set(), 0
    for number in range(80):
        draw = rng.random(6)
        # Every fourth move is one of all detours of a place; every third is kept only if it is better.
        draw[2] *= 0.04 if number % 4 == 0 else 1.0
        before = circle.excess, circle.violations
        if circle.step(near, 1e-3 * circle.tau if number % 3 == 0 else 1e9, draw.tolist()):
            kept += 1
            sizes.add(circle.size)
            if number % 3 == 0:
                energy = circle.excess - before[0] + PENALTY * circle.tau * (circle.violations - before[1])
                assert energy < max(1e-12, -1e-3 * circle.tau * math.log(1 - draw[5]))
        costs, late, excess, load = structure(circle, circle.tau)
        assert circle.cost == pytest.approx(costs, rel=1e-9, abs=1e-9)
        assert circle.excess == pytest.approx(sum(costs), rel=1e-9, abs=1e-9)
        assert circle.violations == late + excess
        assert not circle.shared or circle.load == load
        assert circle.size == sum(after >= 0 for after in circle.after)
        if number % 10 == 9:
            circle.lower()
            overlay = build_overlay("circle", graph, WORK, sorted(circle.arcs()))
            assert circle.tau == pytest.approx(criterion_s(overlay, criterion), rel=1e-12)
    assert kept > 25
    assert len(sizes) > 3
