"""What is said of estimates that the end of their job is part of."""

from collections.abc import Sequence


def disturbed_note(kinds: Sequence[str]) -> list[str]:
    """One sentence on the overlays of whose rounds too few start before a silo has ended the job.

    See Also
    --------
    simulator.statistics.steady_state.counted_rows : why all rounds count then.
    """
    if not kinds:
        return []
    return [
        f"~ {', '.join(kinds)}: most rounds start after a silo has ended the job and left its links to the others; "
        "more rounds show what a long job takes."
    ]
