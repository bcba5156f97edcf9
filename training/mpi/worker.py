"""One rank of a training that `mpi.launcher` started: ``python -m mpi4py -m training.mpi.worker DIRECTORY RANKS``."""

import errno
import json
import os
import select
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path

from topologies.quick_imports import quick_imports
from training.processes import remove_shared_files

JOB = "job.npz"
ROWS = "rows"
PROGRESS = "progress"
GUARD_S = 2.0
ERRORS = "error-*.json"


def main(directory: Path, ranks: int) -> None:
    """Train, and write the history to the pipe in the directory if this is rank 0.

    Parameters
    ----------
    directory : pathlib.Path
        Holds the job file and the pipe; an error is reported there.
    ranks : int
        Number of ranks that were started.

    Notes
    -----
    The launcher reads the pipe as long as it lives. It may be killed at any time, so every rank watches from its start
    whether the pipe still has a reader, and exits soon after its loss, whatever it is doing: starting MPI, waiting for
    other ranks, or computing.
    """
    try:
        pipe = _open_pipe(directory)
        threading.Thread(target=_end_without_reader, args=(pipe, directory), daemon=True).start()
        _train(directory, ranks, pipe)
    except BrokenPipeError:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    except Exception as error:
        report = {"kind": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}
        path = directory / ERRORS.replace("*", str(os.getpid()))
        # Renamed when complete: the end of another rank may end this one while it writes.
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(report))
        partial.replace(path)
        raise


def _open_pipe(directory: Path) -> int:
    """Open the pipe for writing; BrokenPipeError if it has no reader, for which a plain open would wait."""
    try:
        pipe = os.open(directory / ROWS, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):
            raise BrokenPipeError(errno.EPIPE, "the program that started the ranks has ended") from None
        raise
    os.set_blocking(pipe, True)
    return pipe


def _end_without_reader(pipe: int, directory: Path) -> None:
    """Wait until the pipe has lost its reader, then, unless its guard does so before, clean up and exit."""
    watch = select.poll()
    watch.register(pipe, 0)  # only the conditions that are always reported: error and hang-up
    watch.poll()
    time.sleep(GUARD_S)
    remove_shared_files()
    shutil.rmtree(directory, ignore_errors=True)
    # `mpiexec` ends the other ranks and itself when one exits without finalizing MPI.
    os._exit(1)


def _train(directory: Path, ranks: int, pipe: int) -> None:
    """Import what starts MPI and torch only here, so that a failing import is reported like any error."""
    with quick_imports():
        from training.engine.progress import Stage
        from training.mpi.rank_progress import SharedProgress
        from training.mpi_environment import check_size, local_rank, start_mpi, world

    place = world()
    progress = SharedProgress(directory / PROGRESS, 0 if place is None else place.rank)
    with quick_imports():
        from training.mpi.job_file import read_job

    job = read_job(directory / JOB)
    if job.config.gpu_aware_mpi:
        # An MPI built for GPUs may select the current one for good when it starts.
        from training.engine.device import select_gpu

        select_gpu(job.config.device, local_rank(0 if place is None else place.rank))
    with progress.during(Stage.WAITING):
        start_mpi(started=ranks)
    with quick_imports():
        from training.dpasgd import train_rank
        from training.mpi.early_exit import reject_early_exit
        from training.mpi.mpi_communicator import MpiCommunicator
        from training.notice import to_line

    communicator = MpiCommunicator(gpu_aware=job.config.gpu_aware_mpi, progress=progress)
    check_size(started=ranks, found=communicator.size)
    if communicator.rank == 0:
        with os.fdopen(pipe, "w", closefd=False) as rows:
            for report in reject_early_exit(train_rank(job, communicator, progress)):
                rows.write(to_line(report) + "\n")
                rows.flush()
    else:
        for _ in reject_early_exit(train_rank(job, communicator, progress)):
            pass
    # What follows waits for the others, in MPI's end.
    progress.ended()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
