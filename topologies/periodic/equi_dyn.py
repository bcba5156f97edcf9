"""EquiTopo's one-peer digraph: one random shift in each round."""

import math

import numpy as np

from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.periodic.shifts import shift_state
from topologies.state import State

ETA = 0.5
"""Share of the shift in a round; the authors' experiments take it."""


def draw_shift(silos: int, rng: np.random.Generator) -> int:
    """Shift of one round, uniform among ``1..silos - 1``; 0 of a single silo."""
    return int(rng.integers(1, silos)) if silos > 1 else 0


def equi_dyn(silos: int, shift: int, *, eta: float = ETA) -> State:
    """One round of OD-EquiDyn: every silo sends to the one `shift` ahead of it.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.
    shift : int
        Of ``1..silos - 1``, as `draw_shift` draws it; 0 of a single silo, which has no arcs.
    eta : float
        Above 0 and at most 1.

    Returns
    -------
    State
        With the consensus matrix ``(1 - eta) I + eta A(shift)``, see `topologies.periodic.equi_static.equi_static`:
        doubly stochastic, degree 1. A receiver gives the other's model the weight ``eta (silos - 1) / silos``.

    Raises
    ------
    InputError
        If a number is out of its range.

    Notes
    -----
    Source: Song, Li, Jin, Shi, Yan, Yin, Yuan, "Communication-efficient topologies for decentralized learning with O(1)
    consensus rate" (NeurIPS 2022, arXiv 2210.07881), with all shifts as its basis. Time O(silos).
    """
    check_integer("silos", silos, minimum=1)
    check_integer("shift", shift, minimum=min(1, silos - 1))
    if shift >= silos:
        raise InputError(f"must be < silos(={silos}).", field=Field("shift", value=shift))
    if not 0 < eta <= 1:
        raise InputError("must be > 0 and <= 1.", field=Field("eta", value=eta))
    return shift_state(silos, [shift] if shift else [], eta * (silos - 1) / silos)


def mean_contraction(silos: int, *, eta: float = ETA) -> float:
    """Factor per round of the root mean square distance from the average.

    Returns
    -------
    float
        The square root of the spectral norm of ``E[W^T W] - J``; 0 of a single silo.

    Notes
    -----
    All matrices are circulant, so that the Fourier modes are their eigenvectors. With ``c = eta (silos - 1) / silos``
    that of a shift `u` on mode `f` is ``1 - c + c w^(f u)``, ``w`` a root of unity; its squared modulus has the same
    mean over all shifts for each mode other than 0: ``1 - 2 c (1 - c) silos / (silos - 1)``.
    """
    if silos == 1:
        return 0.0
    share = eta * (silos - 1) / silos
    return math.sqrt(1 - 2 * share * (1 - share) * silos / (silos - 1))
