"""Checkpoints beside the file of a run, and what they say of its trainings while the file itself tells nothing."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scenarios.runfile.paths import PARTIAL, final_path
from training import HistoryRow, checkpoint_rounds, history_path


def checkpoints_path(path: Path) -> Path:
    """Folder of the checkpoints of a run's trainings, with one folder per overlay, until the run is complete."""
    return path.with_name(path.name + ".checkpoints")


def has_checkpoint(path: Path) -> bool:
    """Whether an interrupted run can continue from a checkpoint."""
    folder = checkpoints_path(path)
    return folder.is_dir() and any(checkpoint_rounds(kind) for kind in folder.iterdir())


def being_written(path: Path) -> str:
    """What is to be said of a file that another process is writing: where the rows of a training are seen meanwhile."""
    if not path.name.endswith(PARTIAL):
        return "is being written"
    folder = checkpoints_path(final_path(path))
    rows = "; ".join(_last_rows(folder))
    return (
        "is being written, and can be read when its command has ended; until then a training's rows are in the lines "
        f"of its log, in TensorBoard with --tracker tensorboard, and with checkpoint_every in {folder}"
        f"{f' ({rows})' if rows else ''}"
    )


def _last_rows(folder: Path) -> Iterator[str]:
    """The newest row of each training that keeps checkpoints."""
    for kind in sorted(folder.iterdir()) if folder.is_dir() else ():
        # Another process writes it: the last line may not be whole.
        with suppress(OSError, LookupError, TypeError, ValueError):
            *lines, _ = history_path(kind).read_text(encoding="utf-8").split("\n")
            row = HistoryRow.from_json(lines[-1])
            yield f"{kind.name}: round {row.round}, test accuracy {row.test_accuracy:.3f}"
