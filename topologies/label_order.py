"""Designs with silos in the order of labels, so that ties do not depend on the numbering."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec

import numpy as np

from topologies.arrays import IntArray, freeze
from topologies.connectivity import Connectivity
from topologies.overlay import Overlay, build_overlay
from topologies.workload import Workload

P = ParamSpec("P")


def silo_order(graph: Connectivity) -> IntArray:
    """Silos by their router's `Underlay.rank`, those of one router in the order given, shape (silos,)."""
    return np.argsort(graph.underlay.rank[graph.router], kind="stable")


def in_silo_order(graph: Connectivity, work: Workload) -> tuple[Connectivity, Workload, IntArray]:
    """The same network and workload with the silos in the order of `silo_order`.

    Returns
    -------
    graph : Connectivity
        Routers and links keep their numbers.
    work : Workload
    order : ndarray of int, shape (silos,)
        The number of each silo in the network that was given.
    """
    order = silo_order(graph)
    if np.array_equal(order, np.arange(graph.silos)):
        return graph, work, order
    pairs = np.ix_(order, order)
    ordered = replace(
        graph,
        labels=tuple(graph.labels[silo] for silo in order.tolist()),
        router=graph.router[order],
        up_bps=graph.up_bps[order],
        down_bps=graph.down_bps[order],
        latency_s=graph.latency_s[pairs],
        available_bps=graph.available_bps[pairs],
        window_bps=None if graph.window_bps is None else graph.window_bps[pairs],
        rules=graph.rules.renumbered(order),
        slow_start=None if graph.slow_start is None else graph.slow_start.of(pairs),
    )
    freeze(ordered.router, ordered.up_bps, ordered.down_bps, ordered.latency_s, ordered.available_bps)
    if np.shape(work.compute_s) == (graph.silos,):
        work = replace(work, compute_s=np.asarray(work.compute_s)[order])
    return ordered, work, order


def renumbered(overlay: Overlay, graph: Connectivity, work: Workload, number: IntArray) -> Overlay:
    """The same overlay where silo `i` is called ``number[i]``.

    Parameters
    ----------
    graph : Connectivity
        The network of the new numbers.
    number : ndarray of int, shape (silos,)
        A permutation.
    """
    back = np.argsort(number)
    return build_overlay(
        overlay.kind,
        graph,
        work,
        zip(number[overlay.source].tolist(), number[overlay.target].tolist(), strict=True),
        hub=None if overlay.hub is None else int(number[overlay.hub]),
        consensus=overlay.consensus[np.ix_(back, back)],
        negative_weights=overlay.negative_weights,
    )


def by_label(
    designer: Callable[Concatenate[Connectivity, Workload, P], Overlay],
) -> Callable[Concatenate[Connectivity, Workload, P], Overlay]:
    """Turn a designer that breaks ties by silo number into one that breaks them by label.

    Parameters
    ----------
    designer : callable
        None of its options holds numbers of silos.
    """

    @wraps(designer)
    def ordered(graph: Connectivity, work: Workload, /, *args: P.args, **options: P.kwargs) -> Overlay:
        there, its_work, order = in_silo_order(graph, work)
        overlay = designer(there, its_work, *args, **options)
        if there is graph:
            return overlay
        return renumbered(overlay, graph, work, order)

    return ordered
