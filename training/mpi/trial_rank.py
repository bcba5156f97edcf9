"""One of the ranks of `training.mpi.trial`: ``python -m mpi4py -m training.mpi.trial_rank DIRECTORY RANKS``."""

import json
import os
import sys
from pathlib import Path

from topologies.errors import MachineError
from training.mpi_environment import start_mpi

ANSWERS = "answer-*.json"


def main(directory: Path, started: int) -> None:
    """Write what this rank sees into the directory.

    Parameters
    ----------
    directory : Path
    started : int
        Ranks that the launcher was asked for.
    """
    answer: dict[str, object]
    try:
        start_mpi(started=started)
        # Here since the import needs the MPI library that `start_mpi` has looked for.
        from mpi4py import MPI

        answer = {
            "size": MPI.COMM_WORLD.size,
            "answered": MPI.COMM_WORLD.allreduce(1),
            "library": " ".join(MPI.Get_library_version().replace("\0", "").splitlines()[0].split()),
        }
    except MachineError as error:
        answer = {"failure": str(error)}
    path = directory / ANSWERS.replace("*", str(os.getpid()))
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(answer))
    partial.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
