"""What a round is of periodic overlays whose silos compute in some states only."""

from collections.abc import Mapping, Sequence


def states_text(computes: Sequence[bool]) -> str:
    """What is a round of such an overlay, in words without a full stop.

    Parameters
    ----------
    computes : sequence of bool
        Whether silos compute in each state.
    """
    return (
        f"silos compute in {sum(computes)} of {len(computes)} states; a round, of which cycle times are, is one of "
        "these with those after it, in which models that were just averaged are sent on"
    )


def states_note(computes: Mapping[str, Sequence[bool]]) -> list[str]:
    """One sentence for each such overlay, by its name, of a table with numbers of rounds; none for others."""
    return [
        f"{kind}: {states_text(each)}. Numbers of rounds to simulate and to train, and rounds in run files, count all "
        "states."
        for kind, each in computes.items()
        if not all(each)
    ]
