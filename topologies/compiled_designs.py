"""Where designs take compiled code: on many silos, and where a caller makes many of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from topologies.sizes import MANY_SILOS

_MANY = ContextVar("many_designs", default=False)


@contextmanager
def many_designs() -> Iterator[None]:
    """Let all designs of this block take compiled code.

    They are the same to the last bit, about 20 times as fast. A process takes half a second to load the code, and the
    first one of an installation about ten to compile it: one design of a network like the paper's is made in less.

    Examples
    --------
    >>> from topologies import AccessLinks, Workload, connectivity, design, load_underlay
    >>> underlay, work = load_underlay("gaia"), Workload.preset("femnist")
    >>> with many_designs():
    ...     rings = [
    ...         design("ring", connectivity(underlay, access=AccessLinks(up_bps=bps, down_bps=bps)), work)
    ...         for bps in (1e7, 1e8, 1e9)
    ...     ]
    """
    before = _MANY.set(True)
    try:
        yield
    finally:
        _MANY.reset(before)


def takes_compiled(nodes: int) -> bool:
    """Whether an algorithm on so many nodes is to run compiled."""
    return _MANY.get() or nodes > MANY_SILOS
