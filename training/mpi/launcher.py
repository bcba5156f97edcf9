"""Start the ranks of a training with `mpiexec` and read their history while they run."""

import json
import os
import re
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from topologies.errors import InputError, LeftEarlyError, MachineError, TrainingError
from training.history import HistoryRow
from training.job import TrainingJob
from training.mpi.job_file import write_job
from training.mpi.rank_processes import rank_command, rank_process
from training.mpi.rank_progress import make_board
from training.mpi.rank_watch import RankWatch
from training.mpi.worker import ERRORS, JOB, PROGRESS, ROWS
from training.mpi_environment import mpiexec_path
from training.notice import Report, from_line

LOG = "log.txt"
POLL_S = 0.1
_BANNER = re.compile(
    r"^=+\n=   BAD TERMINATION .*?\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: [^\n]*\(signal (\d+)\)\n"
    r"(This typically refers to [^\n]*\nPlease see [^\n]*\n?)?",
    re.DOTALL | re.MULTILINE,
)
"""What MPICH's `mpiexec` prints when a signal ended a rank."""


def run_ranks(job: TrainingJob, ranks: int) -> Iterator[Report]:
    """Train on a number of new processes of this machine.

    Parameters
    ----------
    ranks : int
        Number of processes.

    Yields
    ------
    HistoryRow, Notice
        While the training runs.

    Raises
    ------
    MachineError
        If `mpiexec` is missing or belongs to another MPI, a device is not there, or a rank makes no progress.
    TrainingError
        If a model diverged, or a rank failed: then the message ends with its traceback.
    LeftEarlyError
        If a rank exited before the last round, even if `mpiexec` reports success.

    Notes
    -----
    MPICH's `mpiexec` silently ends all ranks once one exits with status 0, and returns 0: so only the last row proves
    that a training is complete. Rows and notices come through a named pipe, apart from what ranks print. If this
    process is killed, the ranks detect that the pipe has no reader and exit; while they start MPI, which blocks their
    threads, a guard process ends them. Closing the generator ends the job at once.
    """
    mpiexec = mpiexec_path()
    with tempfile.TemporaryDirectory(prefix="silosim-") as name:
        directory = Path(name)
        write_job(directory / JOB, job)
        make_board(directory / PROGRESS, ranks)
        os.mkfifo(directory / ROWS)
        command = rank_command(mpiexec, ranks, "training.mpi.worker", directory, ranks)
        with (
            _pipe(directory / ROWS) as pipe,
            rank_process(command, directory / LOG) as process,
        ):
            watch = RankWatch(
                directory / PROGRESS,
                limit_s=job.config.rank_timeout_s,
                stated=str(job.config.rank_timeout),
                launcher=process.pid,
            )
            last = -1
            for line in _lines(pipe, process, watch.look):
                report = from_line(line)
                yield report
                last = report.round if isinstance(report, HistoryRow) else last
        if process.returncode != 0 or last != job.config.rounds:
            raise _error(directory, process.returncode)


@contextmanager
def _pipe(path: Path) -> Iterator[int]:
    """Open a named pipe for reading; also for writing, so that it never reports an end of file."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lines(
    pipe: int, process: "subprocess.Popen[bytes]", look: Callable[[], None] = lambda: None
) -> Iterator[str]:
    """Yield complete lines until the process has ended and the pipe is empty; a cut last line is dropped.

    Meanwhile `look` is called several times a second; what it raises ends the lines.
    """
    pending = b""
    while True:
        ended = process.poll() is not None
        ready, _, _ = select.select([pipe], [], [], 0 if ended else POLL_S)
        if ready:
            *lines, pending = (pending + os.read(pipe, 1 << 16)).split(b"\n")
            yield from (line.decode() for line in lines)
        elif ended:
            return
        if not ended:
            look()


def _error(directory: Path, status: int) -> Exception:
    """Return the error that the ranks reported, or one made from the log if none did."""
    reports = [json.loads(path.read_text()) for path in sorted(directory.glob(ERRORS))]
    for kind in (InputError, MachineError, TrainingError, LeftEarlyError):
        for report in reports:
            if report["kind"] == kind.__name__:
                return kind(report["message"])
    if reports:
        return TrainingError(f"a rank failed: {reports[0]['message']}\n{reports[0]['traceback'].rstrip()}")
    return _error_from_log((directory / LOG).read_text(errors="replace"), status)


def _error_from_log(log: str, status: int) -> TrainingError:
    """The error of ranks that reported none, from what they and `mpiexec` printed."""
    if status == 0:
        return LeftEarlyError(_with_output("a rank exited with status 0 and reported no error", log.strip()))
    killed = _BANNER.search(log)
    rest = _BANNER.sub("", log).strip()
    if killed is None:
        what = f"mpiexec ended with status {status} and no rank reported an error"
    else:
        number = int(killed[1])
        name = next((f" ({known.name})" for known in signal.Signals if known == number), "")
        why = ", as the system does when memory runs out" if number == signal.SIGKILL else ""
        what = f"a rank was killed by signal {number}{name}{why}"
    return TrainingError(_with_output(what, rest))


def _with_output(what: str, output: str) -> str:
    """A message, with the end of what the ranks printed if they did."""
    return f"{what}; its output:\n{output[-4000:]}" if output else f"{what}."
