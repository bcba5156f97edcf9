"""The parts of a page made one after the other, with a bar where that takes long."""

from collections.abc import Callable, Iterable, Mapping

from scenarios.runtime.progress import bar
from scenarios.runtime.signals import check_interrupts


def made_sections(parts: Mapping[str, Callable[[], Iterable[str]]]) -> list[str]:
    """HTML of all parts, in their order.

    Parameters
    ----------
    parts : mapping from str to callable
        What is being made, as the bar names it, and what makes it.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C.
    """
    made: list[str] = []
    with bar("page", len(parts)) as advance:
        for done, (name, make) in enumerate(parts.items()):
            check_interrupts()
            advance(done, name)
            made += make()
        advance(len(parts))
    return made
