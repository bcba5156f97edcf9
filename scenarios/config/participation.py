"""Which silos make their local steps in a round, as scenarios state it."""

from topologies import InputError
from topologies.errors import Field
from topologies.participation import Participation
from topologies.quantities import parse_share


def participation_of(stated: str | int | None, *, silos: int | None = None) -> Participation | None:
    """Return who takes part.

    Parameters
    ----------
    stated : str or int, optional
        ``"50 %"``: each silo with this probability; or so many silos. None: all.
    silos : int, optional
        Number of silos, where it is known.

    Raises
    ------
    InputError
        If the value is none of these, 0, or above the number of silos.
    """
    field = Field("participation", value=stated)
    if stated is None:
        return None
    if isinstance(stated, int):
        if not 1 <= stated <= (stated if silos is None else silos):
            raise InputError(
                f"must be >= 1 and at most the number of silos{'' if silos is None else f', {silos}'}.",
                field=field,
            )
        return Participation(count=stated)
    share = 1.0 if stated.replace(" ", "") == "100%" else parse_share("participation", stated)
    if share == 0:
        raise InputError("must be > 0 %.", field=field)
    return Participation(share=share)


def participation_key(participation: Participation) -> str | int:
    """What `participation_of` makes these of."""
    if participation.share is not None:
        return f"{100 * participation.share:.15g} %"
    assert participation.count is not None
    return participation.count


def participation_text(participation: Participation | None, silos: int) -> str:
    """Who computes in a round, for captions; empty where all do."""
    if participation is None:
        return ""
    if participation.share is not None:
        return f", in a round by each silo with probability {participation.share:g}"
    return f", in a round by {participation.count} of {silos} silos"
