"""EquiTopo's static digraph: the mean of some random shifts."""

import math

import numpy as np

from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.periodic.shifts import shift_state
from topologies.state import State


def equi_static(silos: int, draws: int, rng: np.random.Generator) -> tuple[State, ...]:
    """D-EquiStatic: every silo sends along the same random shifts.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    draws : int
        `M`: shifts that are drawn, each uniform among ``1..silos - 1``, at least 1; see `draws_for`. A shift that is
        drawn again adds to its weight: the degree is `draws` or less.
    rng : numpy.random.Generator

    Returns
    -------
    tuple of State
        One state, with the consensus matrix ``sum of A(u) / draws``, ``A(u) = (silos - 1) / silos shift(u) + I /
        silos``: doubly stochastic. One silo has no arcs.

    Raises
    ------
    InputError
        If a number is no integer or below 1.

    Notes
    -----
    Source: Song, Li, Jin, Shi, Yan, Yin, Yuan, "Communication-efficient topologies for decentralized learning with O(1)
    consensus rate" (NeurIPS 2022, arXiv 2210.07881). Time O(silos draws).
    """
    check_integer("silos", silos, minimum=1)
    check_integer("draws", draws, minimum=1)
    if silos == 1:
        return (shift_state(1, [], []),)
    shifts, counts = np.unique(rng.integers(1, silos, size=draws), return_counts=True)
    return (shift_state(silos, shifts, counts / draws * (silos - 1) / silos),)


def draws_for(silos: int, norm: float, failure: float) -> int:
    """Shifts with which the norm of ``W - J`` is below `norm` but for a probability of `failure`.

    Parameters
    ----------
    silos : int
        At least 1.
    norm, failure : float
        Above 0 and below 1.

    Returns
    -------
    int
        ``floor(8 ln(2 silos / failure) / (3 norm^2))``.

    Raises
    ------
    InputError
        If a number is out of its range.

    Notes
    -----
    Source: Song et al. (NeurIPS 2022, arXiv 2210.07881), by a matrix Bernstein inequality, with the constant and the
    floor of their public code. It asks for far more shifts than are needed: 245 for 40 silos, a norm of 0.35 and a
    failure in 1,000, where the complete graph has 39.
    """
    check_integer("silos", silos, minimum=1)
    for name, value in (("norm", norm), ("failure", failure)):
        if not 0 < value < 1:
            raise InputError("must be > 0 and < 1.", field=Field(name, value=value))
    return math.floor(8 * math.log(2 * silos / failure) / (3 * norm**2))
