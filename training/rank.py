"""One rank of a training that `training.ranks` started: ``python -m mpi4py -m training.rank DIRECTORY RANKS``."""

import json
import os
import shutil
import sys
import traceback
from pathlib import Path

JOB = "job.npz"
ROWS = "rows"
ERRORS = "error-*.json"


def main(directory: Path, ranks: int) -> None:
    """Train, and write the history to the pipe in the directory if this is rank 0.

    Parameters
    ----------
    directory : pathlib.Path
        Holds the job file and the pipe; an error is reported there.
    ranks : int
        Number of ranks that were started.
    """
    try:
        _train(directory, ranks)
    except BrokenPipeError:
        # Nobody reads any more: the program that started the ranks was killed and cannot clean up.
        shutil.rmtree(directory, ignore_errors=True)
        raise
    except Exception as error:
        report = {"kind": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}
        (directory / ERRORS.replace("*", str(os.getpid()))).write_text(json.dumps(report))
        raise


def _train(directory: Path, ranks: int) -> None:
    """Import what starts MPI and torch only here, so that a failing import is reported like any error."""
    from training.launch import check_size, start_mpi

    start_mpi(started=ranks)
    from training.dpasgd import train_rank
    from training.jobfile import read_job
    from training.mpi_communicator import MpiCommunicator

    communicator = MpiCommunicator()
    check_size(started=ranks, found=communicator.size)
    job = read_job(directory / JOB)
    if communicator.rank == 0:
        with (directory / ROWS).open("w") as pipe:
            for row in train_rank(job, communicator):
                pipe.write(row.to_json() + "\n")
                pipe.flush()
    else:
        for _ in train_rank(job, communicator):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
