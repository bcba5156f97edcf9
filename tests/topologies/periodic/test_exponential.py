"""Exponential graphs: published gaps, known products, edges."""

import numpy as np
import pytest

from topologies import InputError
from topologies.consensus import check_consensus, spectral_gap
from topologies.periodic.exponential import exponential
from topologies.periodic.one_peer_exponential import one_peer_exponential

SIZES = (11, 22, 40, 79, 87)
"""Of Gaia, AWS NA, Geant, Exodus and Ebone."""


def product(states, silos):
    result = np.eye(silos)
    for state in states:
        result = state.consensus(silos) @ result
    return result


@pytest.mark.parametrize(
    ("silos", "second"), [*zip(SIZES, (0.4896, 0.6667, 0.7143, 0.6552, 0.6540), strict=True)]
)
def test_second_eigenvalue_of_the_static_graph(silos, second):
    (state,) = exponential(silos)
    assert 1 - spectral_gap(state.consensus(silos)) == pytest.approx(second, abs=5e-5)


@pytest.mark.parametrize("silos", [2, 3, 4, 5, 6, 8, 12, 17, 100])
def test_gap_of_the_static_graph_is_that_of_the_theorem(silos):
    (state,) = exponential(silos)
    peers = (silos - 1).bit_length()
    gap = spectral_gap(state.consensus(silos))
    if silos % 2 == 0:
        assert gap == pytest.approx(2 / (1 + peers), abs=1e-12)
    else:
        assert gap > 2 / (1 + peers)


def test_arcs_and_weights_of_the_static_graph_on_six_silos():
    (state,) = exponential(6)
    arcs = sorted((i, (i + step) % 6) for i in range(6) for step in (1, 2, 4))
    assert list(zip(state.source.tolist(), state.target.tolist(), strict=True)) == arcs
    assert state.weight.tolist() == [0.25] * 18
    assert state.lag.tolist() == [1] * 18


@pytest.mark.parametrize(
    ("silos", "norm"), [*zip(SIZES, (0.2196, 0.2173, 0.1894, 0.1827, 0.2155), strict=True)]
)
def test_product_of_the_one_peer_graph(silos, norm):
    left = product(one_peer_exponential(silos), silos) - 1 / silos
    assert np.linalg.norm(left, 2) == pytest.approx(norm, abs=5e-5)


@pytest.mark.parametrize("silos", range(1, 34))
def test_the_one_peer_graph_averages_exactly_only_for_powers_of_two(silos):
    states = one_peer_exponential(silos)
    left = np.linalg.norm(product(states, silos) - 1 / silos, 2)
    if silos & (silos - 1) == 0:
        assert left < 1e-12
    else:
        assert left > 0.01
    assert len(states) == max(1, int(np.ceil(np.log2(silos))))
    for state in states:
        assert np.bincount(state.source, minlength=silos).tolist() == [int(silos > 1)] * silos
        assert np.bincount(state.target, minlength=silos).tolist() == [int(silos > 1)] * silos


@pytest.mark.parametrize("silos", [1, 2, 3, 10])
@pytest.mark.parametrize("kind", [exponential, one_peer_exponential])
def test_consensus_is_doubly_stochastic(kind, silos):
    for state in kind(silos):
        check_consensus(state.consensus(silos), columns=True)


@pytest.mark.parametrize("kind", [exponential, one_peer_exponential])
def test_one_silo_has_no_arcs_and_none_is_an_error(kind):
    (state,) = kind(1)
    assert len(state.source) == 0
    with pytest.raises(InputError, match=r"^silos\(=0\) must be >= 1\.$"):
        kind(0)
