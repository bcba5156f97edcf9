"""EquiTopo's digraphs: expectations, published values, edges."""

import numpy as np
import pytest

from topologies import InputError
from topologies.consensus import check_consensus
from topologies.periodic.equi_dyn import draw_shift, equi_dyn, mean_contraction
from topologies.periodic.equi_static import draws_for, equi_static

SIZES = (11, 22, 40, 79, 87)


def shifted(silos, shift):
    """A(u) entry by entry."""
    matrix = np.eye(silos) / silos
    for i in range(silos):
        matrix[(i + shift) % silos, i] += (silos - 1) / silos
    return matrix


@pytest.mark.parametrize("silos", [2, 5, 12])
@pytest.mark.parametrize("draws", [1, 3, 40])
def test_the_static_digraph_is_the_mean_of_its_draws(silos, draws):
    (state,) = equi_static(silos, draws, np.random.default_rng(4))
    shifts = np.random.default_rng(4).integers(1, silos, size=draws).tolist()
    mean = sum(shifted(silos, shift) for shift in shifts) / draws
    assert state.consensus(silos) == pytest.approx(mean, abs=1e-15)
    check_consensus(state.consensus(silos), columns=True)
    assert np.bincount(state.source).max() == len(set(shifts)) <= draws


def test_the_mean_of_all_shifts_is_the_average():
    class All:
        def integers(self, low, high, size):
            assert size == high - low
            return np.arange(low, high)

    (state,) = equi_static(9, 8, All())
    assert state.consensus(9) == pytest.approx(np.full((9, 9), 1 / 9), abs=1e-15)


@pytest.mark.parametrize(
    ("silos", "norm", "failure", "draws"), [(40, 0.5, 0.1, 71), (40, 0.35, 1e-3, 245), (11, 0.9, 0.5, 12)]
)
def test_so_many_draws_rarely_fail(silos, norm, failure, draws):
    assert draws_for(silos, norm, failure) == draws
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(200):
        (state,) = equi_static(silos, draws, rng)
        failed += np.linalg.norm(state.consensus(silos) - 1 / silos, 2) >= norm
    assert failed <= 200 * failure


@pytest.mark.parametrize(("silos", "factor"), [*zip(SIZES, (0.674, 0.691, 0.698, 0.703, 0.703), strict=True)])
def test_contraction_of_the_one_peer_digraph(silos, factor):
    assert mean_contraction(silos) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize("silos", [2, 3, 8, 11])
@pytest.mark.parametrize("eta", [0.25, 0.5, 1.0])
def test_contraction_is_the_norm_of_the_expectation_over_all_shifts(silos, eta):
    expected = np.zeros((silos, silos))
    for shift in range(1, silos):
        matrix = equi_dyn(silos, shift, eta=eta).consensus(silos)
        check_consensus(matrix, columns=True)
        assert matrix == pytest.approx((1 - eta) * np.eye(silos) + eta * shifted(silos, shift), abs=1e-15)
        expected += matrix.T @ matrix / (silos - 1)
    assert mean_contraction(silos, eta=eta) ** 2 == pytest.approx(
        np.linalg.norm(expected - 1 / silos, 2), abs=1e-12
    )


def test_every_shift_is_as_likely():
    rng = np.random.default_rng(1)
    counts = np.bincount([draw_shift(5, rng) for _ in range(4000)], minlength=5)
    assert counts[0] == 0
    # Each is binomial with a deviation of 27.
    assert np.abs(counts[1:] - 1000).max() < 5 * 27


def test_one_silo_has_no_arcs():
    assert draw_shift(1, np.random.default_rng(0)) == 0
    assert mean_contraction(1) == 0
    (static,) = equi_static(1, 5, np.random.default_rng(0))
    assert len(static.source) == len(equi_dyn(1, 0).source) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equi_static(0, 1, np.random.default_rng(0)), r"^silos\(=0\) must be >= 1\.$"),
        (lambda: equi_static(4, 0, np.random.default_rng(0)), r"^draws\(=0\) must be >= 1\.$"),
        (lambda: equi_dyn(4, 4), r"^shift\(=4\) must be < silos\(=4\)\.$"),
        (lambda: equi_dyn(4, 0), r"^shift\(=0\) must be >= 1\.$"),
        (lambda: equi_dyn(4, 1, eta=0.0), r"^eta\(=0\.0\) must be > 0 and <= 1\.$"),
        (lambda: equi_dyn(4, 1, eta=float("nan")), r"^eta\(=nan\) must be > 0 and <= 1\.$"),
        (lambda: draws_for(4, 1.0, 0.1), r"^norm\(=1\.0\) must be > 0 and < 1\.$"),
        (lambda: draws_for(4, 0.5, 0.0), r"^failure\(=0\.0\) must be > 0 and < 1\.$"),
    ],
)
def test_bad_numbers(call, message):
    with pytest.raises(InputError, match=message):
        call()
