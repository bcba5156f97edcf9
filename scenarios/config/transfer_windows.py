"""Windows and streams of transfers: for all, by receiving silo and by pair."""

from collections.abc import Mapping

import numpy as np

from scenarios.config.silo_pairs import ARROW, silo_pairs
from topologies import Connectivity, InputError
from topologies.arrays import FloatArray
from topologies.errors import Field, unknown_name
from topologies.windows import with_windows


def with_windows_of(
    graph: Connectivity,
    window_bits: float | None,
    streams: int,
    window_bits_at: Mapping[str, float],
    streams_at: Mapping[str, int],
) -> Connectivity:
    """The network with the windows that a configuration states; as it is where it states none.

    Parameters
    ----------
    graph : Connectivity
    window_bits : float or None
        Of every stream; None: no limit.
    streams : int
        Of every transfer.
    window_bits_at, streams_at : mapping from str
        What differs: by the label of the silo that receives, or by pair, ``"A -> B"`` or ``"A - B"``, which goes before
        the receiver.

    Raises
    ------
    InputError
        If a label is no silo's, or a value is out of its range.
    """
    if window_bits is None and not window_bits_at:
        return graph
    return with_windows(
        graph,
        _by_pair(graph, "window_at", np.inf if window_bits is None else window_bits, window_bits_at),
        streams_by_pair(graph, streams, streams_at),
    )


def streams_by_pair(graph: Connectivity, streams: int, streams_at: Mapping[str, int]) -> FloatArray:
    """Parallel streams of each transfer, shape (silos, silos); its row sends. As `with_windows_of` takes them."""
    return _by_pair(graph, "streams_at", streams, streams_at)


def _by_pair(graph: Connectivity, field: str, value: float, special: Mapping[str, float]) -> FloatArray:
    """One value for each pair; its row sends."""
    found = np.full((graph.silos, graph.silos), value, dtype=np.float64)
    receivers = {key: own for key, own in special.items() if key in graph.labels or not ARROW.search(key)}
    for label, own in receivers.items():
        if label not in graph.labels:
            raise unknown_name(f"{field} silo", label, graph.labels)
        found[:, graph.labels.index(label)] = own
    pairs = {key: silo_pairs(field, graph.labels, key) for key in special if key not in receivers}
    named: dict[tuple[int, int, int], str] = {}
    # What holds for one direction goes before what holds for both.
    for key, both in sorted(pairs.items(), key=lambda item: -len(item[1])):
        for pair in both:
            other = named.setdefault((len(both), *pair), key)
            if other != key:
                raise InputError(f"must name each pair once: {other!r} is the same.", field=Field(field, key))
            found[pair] = special[key]
    return found
