"""Capacities of core links and available bandwidth of routes."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.checks import per_silo
from topologies.errors import Field, InputError, unknown_name
from topologies.networks.underlay_title import underlay_title
from topologies.routing import Routes
from topologies.underlay import Underlay

UNSTATED_CORE_BPS = 1e9
"""Capacity of a core link that states none: the paper's 1 Gbps."""


def core_capacity(underlay: Underlay, core: float | str | None) -> tuple[FloatArray, BoolArray]:
    """Capacity of each core link, and whether it was assumed.

    Parameters
    ----------
    core : float or "stated", optional
        See `topologies.connectivity.connectivity`.

    Returns
    -------
    core_bps : ndarray, shape (links,)
    assumed : ndarray of bool, shape (links,)
        True where neither the file states a capacity nor `core` gives one, so that it is `UNSTATED_CORE_BPS`.

    Raises
    ------
    InputError
        If `core` is neither, not > 0, or ``"stated"`` where no link states a capacity.
    """
    stated = np.isfinite(underlay.capacity_bps)
    if isinstance(core, str) and core == "stated" and not stated.any():
        raise InputError(
            f"needs capacities, but no link of {underlay_title(underlay)} states one.",
            field=Field("core", value=core),
        )
    if core is None or (isinstance(core, str) and core == "stated"):
        return np.where(stated, underlay.capacity_bps, UNSTATED_CORE_BPS), ~stated
    if isinstance(core, (str, bool)) or np.ndim(core) > 0:
        raise InputError("must be 'stated' or a number in bit/s.", field=Field("core", value=core))
    core_bps = np.full(underlay.links, per_silo("core", core, 1, positive=True)[0])
    return core_bps, np.zeros(underlay.links, dtype=bool)


def available_bandwidth(
    routes: Routes,
    core_bps: FloatArray,
    rule: Literal["hop_share", "bottleneck"] | FloatArray,
    router: IntArray,
    blocked: Iterable[tuple[int, int]],
) -> FloatArray:
    """`A(i', j')` for every pair of silos.

    Parameters
    ----------
    core_bps : ndarray, shape (links,)
    rule : {"hop_share", "bottleneck"} or array_like, shape (silos, silos)
        See `topologies.connectivity.connectivity`.
    router : ndarray of int, shape (silos,)
        The router of each silo.
    blocked : iterable of (int, int)
        Ordered silo pairs that cannot talk.

    Returns
    -------
    ndarray, shape (silos, silos)
        In bit/s; infinite on the diagonal and, where it is not measured, between silos of one router; 0 where `i`
        cannot send to `j`.

    Raises
    ------
    InputError
        If the rule is unknown, the matrix wrong, or a pair does not exist.
    """
    silos = len(router)
    if not isinstance(rule, str):
        try:
            available = np.array(rule, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("bandwidth must be 'hop_share', 'bottleneck' or a matrix of numbers.") from None
        if available.shape != (silos, silos):
            raise InputError(
                f"bandwidth(of shape {available.shape}) must have shape ({silos}, {silos}): a row for each sender."
            )
        np.fill_diagonal(available, np.inf)
        for i, j in np.argwhere(~(available >= 0)).tolist():
            raise InputError(
                f"bandwidth[{i}, {j}](={available[i, j]}) must be a rate in bit/s: entries >= 0."
            )
    elif rule in ("hop_share", "bottleneck"):
        between = np.ix_(router, router)
        available = routes.bottleneck_bps(core_bps)[between]
        if rule == "hop_share":
            available = available / np.maximum(routes.hops[between], 1)
    else:
        raise unknown_name("bandwidth", rule, ("hop_share", "bottleneck"))
    np.fill_diagonal(available, np.inf)
    for i, j in blocked:
        if not (0 <= i < silos and 0 <= j < silos and i != j):
            raise InputError(
                f"must join two different silos of 0..{silos - 1}.", field=Field("blocked", value=(i, j))
            )
        available[i, j] = 0.0
    return available


def idle_faster_links(underlay: Underlay, routes: Routes, core_bps: FloatArray) -> list[int]:
    """Links that no route takes although a slower parallel link carries routes.

    Parameters
    ----------
    core_bps : ndarray, shape (links,)

    Returns
    -------
    list of int
        Their indices: routing goes by length, and of parallel links the shortest carries all routes. Time of
        `Routes.used_links`.
    """
    used = routes.used_links()
    fastest: dict[tuple[int, ...], float] = {}
    pairs = [tuple(pair) for pair in np.sort(underlay.ends).tolist()]
    for link in np.flatnonzero(used).tolist():
        fastest[pairs[link]] = max(fastest.get(pairs[link], 0.0), float(core_bps[link]))
    return [
        link for link in np.flatnonzero(~used).tolist() if core_bps[link] > fastest.get(pairs[link], np.inf)
    ]
