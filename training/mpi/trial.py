"""Whether a launcher and this Python's MPI library belong together: a few ranks that count each other."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from training.mpi.rank_processes import rank_command, rank_process
from training.mpi.trial_rank import ANSWERS


@dataclass(frozen=True, kw_only=True, slots=True)
class LauncherTrial:
    """What the ranks said that a launcher started.

    Attributes
    ----------
    sizes : tuple of int
        Size of MPI's world as each rank sees it, in ascending order. Under the launcher of another MPI each sees 1.
    library : str
        Name and version of the MPI library; empty if no rank found one.
    failure : str
        One line; empty if all ranks counted each other in time.
    """

    sizes: tuple[int, ...]
    library: str
    failure: str


def try_launcher(launcher: Path, *, ranks: int, limit_s: float) -> LauncherTrial:
    """Start ranks as a training does, and let them count each other.

    Parameters
    ----------
    launcher : Path
        An `mpiexec`.
    ranks : int
        Processes to start.
    limit_s : float
        After this time they are ended.

    Returns
    -------
    LauncherTrial

    Notes
    -----
    Needs no torch. Nothing is left behind, also if this process is killed.
    """
    with tempfile.TemporaryDirectory(prefix="silosim-") as name:
        directory = Path(name)
        log = directory / "log.txt"
        failure = ""
        try:
            with rank_process(
                rank_command(launcher, ranks, "training.mpi.trial_rank", directory, ranks), log
            ) as process:
                status = process.wait(timeout=limit_s)
            printed = log.read_text(errors="replace").split("\n")
            said = next((line.strip() for line in reversed(printed) if line.strip()), "")
            if status:
                failure = f"it ended with status {status}{f': {said}' if said else ''}"
        except subprocess.TimeoutExpired:
            failure = f"the ranks did not count each other within {limit_s:g} s"
        except OSError as error:
            failure = f"it cannot be started: {error.strerror}"
        answers = [json.loads(path.read_text()) for path in sorted(directory.glob(ANSWERS))]
    sizes = tuple(sorted(answer["size"] for answer in answers if "size" in answer))
    reported = next((answer["failure"] for answer in answers if "failure" in answer), "")
    if not (reported or failure) and len(answers) != ranks:
        failure = f"{len(answers)} of {ranks} ranks answered"
    if not (reported or failure) and any(size != ranks for size in sizes):
        failure = f"it started {ranks} ranks, but each sees {listed_sizes(sizes)}: it belongs to another MPI"
    library = next((answer["library"] for answer in answers if "library" in answer), "")
    return LauncherTrial(sizes=sizes, library=library, failure=reported or failure)


def listed_sizes(sizes: tuple[int, ...]) -> str:
    """Return the sizes of worlds in words."""
    return " or ".join("itself alone" if size == 1 else f"{size} ranks" for size in sorted(set(sizes)))
