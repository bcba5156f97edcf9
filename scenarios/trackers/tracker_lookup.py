"""Finding trackers by name: built in, of installed packages, or the user's own."""

from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import cast

from scenarios.config.training_files import code_beside
from scenarios.trackers.tracker import MakeTracker
from topologies import InputError
from topologies.entry_points import all_names, find_entry, load_entry
from topologies.errors import Field, unknown_name
from training.own_code import check_takes, is_own, load_callable, refused

GROUP = "silosim.trackers"
"""Entry point group in which other packages register theirs."""
TENSORBOARD = "tensorboard"
TRACKERS: Mapping[str, EntryPoint] = {
    TENSORBOARD: EntryPoint(TENSORBOARD, "scenarios.trackers.tensorboard:TensorBoard", GROUP)
}
"""Those of this package."""
_FIELD = "tracker"


def tracker_names() -> tuple[str, ...]:
    """Names of all trackers that are installed; imports none."""
    return all_names(TRACKERS, GROUP)


def load_trackers(
    given: Sequence[str | MakeTracker], *, folder: Path | None = None
) -> dict[str, MakeTracker]:
    """Return trackers by name.

    Parameters
    ----------
    given : sequence of str or callable
        Each a name of `tracker_names`, ``file.py:name`` or ``module:name`` of the user's own, whose module runs here,
        or what makes a tracker.
    folder : Path, optional
        Where files of the user's are looked for, too: that of the scenario.

    Raises
    ------
    InputError
        If there is none of a name, two are the same, or it cannot make a tracker.
    MachineError
        If a tracker of another package cannot be imported.
    TrainingError
        If the user's module fails, with its traceback.
    """
    made: dict[str, MakeTracker] = {}
    for each in given:
        if isinstance(each, str):
            name, found = each, _found(each, folder)
            if name in made:
                raise InputError("must not be named twice.", field=Field(_FIELD, value=name))
        else:
            name, found = getattr(each, "__qualname__", type(each).__qualname__), each
            if name in made:  # such as two functions made by one
                name = f"{name} ({len(made) + 1})"
        if not callable(found):
            raise refused(_FIELD, name, f"must be a callable, not {type(found).__name__}")
        check_takes(found, name, field=_FIELD, given={"training": None}, in_order=True)
        if isinstance(found, type):
            check_methods(name, found)
        made[name] = found
    return made


def _found(name: str, folder: Path | None) -> MakeTracker:
    """What a name stands for."""
    if is_own(name):
        return cast(
            MakeTracker, load_callable(name if folder is None else code_beside(folder, name), field=_FIELD)
        )
    entry = find_entry(GROUP, name, "tracker", own=TRACKERS.values())
    if entry is None:
        otherwise = "file.py:name or module:name of your own"
        raise unknown_name(_FIELD, name, tracker_names(), otherwise=otherwise)
    return cast(MakeTracker, load_entry(entry, "tracker"))


def check_methods(name: str, tracker: object) -> None:
    """Raise InputError unless something has what `Tracker` asks for."""
    for method in ("row", "end"):
        if not callable(getattr(tracker, method, None)):
            raise refused(_FIELD, name, f"must have a method {method}")
