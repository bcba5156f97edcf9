"""Which engine simulated what, for the notes of a table."""

from collections.abc import Iterable


def engine_note(simulations: Iterable[tuple[str, str]]) -> list[str]:
    """Which engine simulated what, in one sentence; none where no engine is known.

    Parameters
    ----------
    simulations : iterable of (str, str)
        What was simulated, and the name of the engine, which may be empty.
    """
    simulated: dict[str, dict[str, None]] = {}
    for what, engine in simulations:
        if engine:
            simulated.setdefault(engine, {})[what] = None
    if len(simulated) < 2:
        return [f"Engine: {engine}." for engine in simulated]
    parts = [f"{engine} for {', '.join(what)}" for engine, what in simulated.items()]
    return [f"Engine: {'; '.join(parts)}."]
