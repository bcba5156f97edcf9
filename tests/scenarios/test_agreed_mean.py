"""What is said of the mean on which silos agree."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.report.agreed_mean import agreement_notes, mean_notes, shares_text, weights_by_label
from topologies import AccessLinks, Workload, build_overlay, connectivity, load_underlay

RING = [(i, (i + 1) % 11) for i in range(11)]


@pytest.fixture(scope="module")
def graph():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


def ring_with(graph, own):
    """A ring in which silo `i` keeps ``own[i]`` of its own model."""
    consensus = np.diag(own) + np.roll(np.diag(1 - np.asarray(own)), -1, axis=1)
    return build_overlay("ring", graph, Workload.preset("femnist"), RING, consensus=consensus)


def test_nothing_is_said_of_the_plain_mean(graph):
    assert mean_notes(ring_with(graph, np.full(11, 0.5))) == []


def test_the_heaviest_and_the_lightest_silo_are_named(graph):
    """On a ring a silo weighs as 1 over what it takes of its neighbour: two silos that take 1/4 weigh twice as much."""
    own = np.full(11, 0.5)
    own[3] = 0.75
    (note,) = mean_notes(ring_with(graph, own))

    assert note == (
        "ring: the silos agree on a weighted mean of their models, since columns of its consensus matrix do not sum to "
        f"1: '{graph.labels[3]}' weighs 1.83 times its plain share, '{graph.labels[0]}' 0.917 times."
    )


def test_silos_that_never_agree_are_said_to(graph):
    assert mean_notes(ring_with(graph, np.zeros(11))) == [
        "ring: with its weights the silos never agree on one model."
    ]


def test_of_equal_shares_the_first_is_named():
    words = shares_text(["A", "B", "C", "D"], np.array([0.2, 0.3, 0.3 + 1e-12, 0.2]))

    assert words == "'B' weighs 1.2 times its plain share, 'A' 0.8 times."


def test_weights_by_label():
    assert weights_by_label(["A", "B"], np.array([0.25, 0.75])) == {"A": 0.25, "B": 0.75}
    assert weights_by_label(["A", "B"], None) is None


def test_the_table_of_designs_says_it_too(silosim, graph, tmp_path):
    overlay = ring_with(graph, np.array([0.75, *[0.5] * 10]))
    np.save(tmp_path / "W.npy", overlay.consensus)
    out = silosim("design", "gaia", "--weights", tmp_path / "W.npy", "--kind", "ring").ok().out
    assert "agree on a weighted mean of their models" in " ".join(out.split())


@pytest.mark.parametrize(("silos", "said"), [(1000, True), (1001, False)])
def test_of_very_many_silos_nothing_is_said(silos, said):
    overlay = SimpleNamespace(kind="ring", graph=SimpleNamespace(silos=silos), agreed_weights=None)
    assert mean_notes(overlay) == (
        ["ring: with its weights the silos never agree on one model."] if said else []
    )


@pytest.mark.parametrize(("off", "said"), [(0.5e-12, False), (2e-12, True)])
def test_columns_that_sum_to_1_but_for_rounding_are_those_of_the_plain_mean(off, said):
    overlay = SimpleNamespace(
        kind="ring",
        graph=SimpleNamespace(labels=("A", "B")),
        consensus=np.array([[0.5, 0.5], [0.5 + off, 0.5 - off]]),
    )
    assert bool(agreement_notes(overlay, np.array([0.5, 0.5]))) is said
