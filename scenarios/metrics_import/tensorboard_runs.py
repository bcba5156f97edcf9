"""Runs in a folder of TensorBoard's, and the rows of one of them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from scenarios.metrics_import.metric_names import TEST, TRAIN, plain_name
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.metrics_import.tensorboard import RunScalars, Scalars, read_scalars
from topologies import InputError
from topologies.errors import unknown_name
from topologies.regular_files import is_folder

STEP, EPOCH, BATCH = "step", "epoch", "batch"
_KERAS_EPOCH = "epoch_"
"""Begin of the tags whose step Keras has in epochs; others of its tags have theirs in batches or tests."""
_NO_EVENTS = ".profile-empty"
"""End of the names of files that only mark where TensorFlow's profiler wrote."""
_PHASES = frozenset((*TRAIN, *TEST))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Column:
    """A tag of a run, as a column."""

    round: str
    name: str
    scalars: Scalars
    run: RunScalars


def is_of_tensorboard(path: Path) -> bool:
    """Whether a path is that of an event file or of a folder, which must hold some."""
    return is_folder(path) or "tfevents" in path.name


def event_rows(path: Path, run: str | None = None) -> MetricsRows:
    """Rows of an event file, or of one run in a folder.

    Parameters
    ----------
    path : Path
    run : str, optional
        A run's folder below `path`, ``.`` for its own files; or the folder of ``train`` and ``validation``.

    Returns
    -------
    MetricsRows
        A row for each value: the tag's column, and `STEP`, `EPOCH` or `BATCH`.

    Raises
    ------
    InputError
        If there is no event file or no scalar, the run is unknown, or there are several and none is named; or as
        `read_scalars`.

    Notes
    -----
    As for TensorBoard every folder with event files is a run, whose name is its path. Folders ``train`` and
    ``validation`` (``test``, ``val``, ``valid``, ``eval``) side by side are of one training and are joined, as
    ``keras.callbacks.TensorBoard`` writes them (``keras/src/callbacks/tensorboard.py``): both have a tag
    ``epoch_loss``, whose step is the epoch, and the folder says which loss it is. So a tag that does not say its phase
    has the folder's name before it: ``validation/epoch_loss``.
    """
    if not is_folder(path):
        if run is not None:
            raise InputError(
                "is no folder: --run must not be given, which names a run in one.", source=str(path)
            )
        found = read_scalars([path])
        return _rows(_columns(found, ""), found.notes, str(path), 1)
    runs = _runs(path)
    if not runs:
        raise InputError("has no TensorBoard event file (*tfevents*).", source=str(path))
    joined = _joined(runs)
    choices = {**{name: [name] for name in runs}, **joined}
    if run is not None:
        chosen = run if run in choices else PurePosixPath(run).as_posix()
        if chosen not in choices:
            raise unknown_name("run", run, choices, source=str(path))
    else:
        members = {name for some in joined.values() for name in some}
        alone = [*joined, *(name for name in runs if name not in members)]
        if len(alone) > 1:
            listed = ", ".join(sorted(alone)[:10]) + (f", ... ({len(alone)} runs)" if len(alone) > 10 else "")
            raise InputError(f"has several runs: --run must name one of {listed}.", source=str(path))
        (chosen,) = alone
    columns: list[_Column] = []
    notes: list[str] = []
    for member in choices[chosen]:
        found = read_scalars(runs[member])
        columns += _columns(found, PurePosixPath(member).name)
        notes += found.notes
    if len(choices[chosen]) > 1:
        notes.insert(0, f"folders {' and '.join(choices[chosen])} are joined, as of one training.")
    elif chosen != ".":
        notes.insert(0, f"the run is {chosen}.")
    return _rows(columns, notes, str(path / chosen), sum(len(runs[member]) for member in choices[chosen]))


def _runs(path: Path) -> dict[str, list[Path]]:
    """Event files of each folder that has some, by its path below this one."""
    found: dict[str, list[Path]] = {}
    for folder, _, names in os.walk(path):
        files = [Path(folder, name) for name in names if "tfevents" in name and not name.endswith(_NO_EVENTS)]
        if files:
            found[Path(folder).relative_to(path).as_posix()] = files
    return dict(sorted(found.items()))


def _joined(runs: Mapping[str, object]) -> dict[str, list[str]]:
    """Folders of the training's and the test's writer, by the folder that they are in, unless that is a run itself."""
    beside: dict[str, list[str]] = {}
    for name in runs:
        if PurePosixPath(name).name.lower() in _PHASES:
            beside.setdefault(PurePosixPath(name).parent.as_posix(), []).append(name)
    return {
        parent: names
        for parent, names in beside.items()
        if parent not in runs
        and {PurePosixPath(name).name.lower() in TRAIN for name in names} == {True, False}
    }


def _columns(run: RunScalars, folder: str) -> list[_Column]:
    """Columns of a run's tags; `folder` is the name of its own folder, if it is below the one that the user gave."""
    is_phase = folder.lower() in _PHASES
    is_keras = is_phase and any(tag.startswith(_KERAS_EPOCH) for tag in run.tags)
    columns = []
    for tag, scalars in run.tags.items():
        is_clear = not is_phase or not _PHASES.isdisjoint(plain_name(tag).split("_"))
        round_ = STEP if not is_keras else EPOCH if tag.startswith(_KERAS_EPOCH) else BATCH
        columns.append(
            _Column(round=round_, name=tag if is_clear else f"{folder}/{tag}", scalars=scalars, run=run)
        )
    return columns


def _rows(columns: Sequence[_Column], notes: Sequence[str], source: str, files: int) -> MetricsRows:
    """Rows of a run, which must have a scalar."""
    if not columns:
        raise InputError(
            f"has no scalar tag in its {files} event file{'s' if files > 1 else ''}.", source=source
        )
    return MetricsRows(start=partial(_walk, columns), notes=tuple(notes))


def _walk(columns: Sequence[_Column]) -> Iterator[MetricsRow]:
    """A row for each value, tag by tag."""
    for column in columns:
        some, files = column.scalars, [str(file) for file in column.run.files]
        for step, value, file, record in zip(some.steps, some.values, some.files, some.records, strict=True):
            yield MetricsRow(
                source=f"{files[file]}, record {record}", values={column.round: step, column.name: value}
            )
