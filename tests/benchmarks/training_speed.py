"""How fast silos train, against a plain loop over them: ``python tests/benchmarks/training_speed.py [--device cuda]``.

On the processor, two ranks of one thread each are compared with a plain loop whose operations use two threads. Both
take turns, so that a busy machine slows both; the ratio is that of the shortest times. With a GPU, trainings on it are
checked against the processor's, and CUDA graphs are compared with a plain loop, and with one model that sees the
batches of all silos as one. The figures of a GPU are appended to NOTES.md here, with the hardware's name; ``--write
FILE`` appends any to another file.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path

import gpu_training
import numpy as np
import torch
from training_cases import CASES, CPU, job_of, plain_of, rank_silos_of

from training.dpasgd import train_round
from training.engine.device import reproducible
from training.engine.hardware import hardware_name
from training.mpi_environment import mpiexec_path, rank_environment

RANKS = 2
TURNS = 9
NOTES = Path(__file__).with_name("NOTES.md")


def rank_main(name: str) -> None:
    """Be one of the ranks: make some rounds whenever a line comes, and say how long they took."""
    from training.mpi_environment import start_mpi

    start_mpi(started=RANKS)
    from training.mpi.mpi_communicator import MpiCommunicator

    communicator = MpiCommunicator()
    case = CASES[name]
    job = job_of(case)
    with reproducible():
        rank_silos = rank_silos_of(case, job, communicator)
        number = 0
        while True:
            more = float(bool(communicator.rank == 0 and sys.stdin.readline()))
            if not communicator.sum(np.array([more]))[0]:
                return
            start = time.perf_counter()
            for k in range(number, number + case.rounds):
                train_round(job, rank_silos, k)
            communicator.sum(np.zeros(1))
            number += case.rounds
            if communicator.rank == 0:
                seconds = (time.perf_counter() - start) / case.rounds
                print(seconds, *rank_silos.notices, flush=True)


@contextmanager
def ranks_of(name: str) -> Iterator[Callable[[], tuple[float, str]]]:
    """Start the ranks; each call gives the seconds of one round, and the notice about the executor."""
    command = [mpiexec_path(), "-n", RANKS, sys.executable, "-m", "mpi4py", __file__, "--rank", name]
    with subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**rank_environment(environ), "PYTHONPATH": str(Path(__file__).parent)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ask, answers = process.stdin, process.stdout

        def go() -> tuple[float, str]:
            ask.write("go\n")
            ask.flush()
            seconds, _, notice = answers.readline().strip().partition(" ")
            return float(seconds), notice

        yield go
        ask.close()


def compare(name: str) -> bool:
    """Print one row; whether the case is as fast as it must be."""
    case = CASES[name]
    plain = plain_of(case)
    ours_s, plain_s = [], []
    with ranks_of(name) as ours:
        for _ in range(TURNS + 1):
            seconds, notice = ours()
            ours_s.append(seconds)
            start = time.perf_counter()
            for _ in range(case.rounds):
                plain.round()
            plain_s.append((time.perf_counter() - start) / case.rounds)
    ratio = min(plain_s[1:]) / min(ours_s[1:])
    usual = statistics.median(theirs / own for theirs, own in zip(plain_s[1:], ours_s[1:], strict=True))
    print(
        f"{name:<22}{case.silos:>6}{case.batch_size:>7}{1e3 * min(plain_s[1:]):9.1f} ms"
        f"{1e3 * min(ours_s[1:]):8.1f} ms{ratio:7.2f}{usual:8.2f}{case.least:7.1f}"
        f"  {notice or 'loop'}",
        flush=True,
    )
    return ratio >= case.least


def processor() -> bool:
    """Print the processor's table; whether every case is fast enough."""
    torch.set_num_threads(RANKS)
    print(f"{hardware_name(CPU)}, torch {torch.__version__}; a round of {RANKS} ranks against a plain loop")
    print(f"{'':<22}{'silos':>6}{'batch':>7}{'plain':>12}{'ours':>11}{'ratio':>7}{'median':>8}{'target':>7}")
    results = [compare(name) for name in CASES]
    return all(results)


class Tee:
    """Writes to the terminal and to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a")

    def write(self, text: str) -> int:
        """Write to both."""
        self._file.write(text)
        return sys.__stdout__.write(text) if sys.__stdout__ else 0

    def flush(self) -> None:
        """Flush both."""
        self._file.flush()
        if sys.__stdout__:
            sys.__stdout__.flush()


def main() -> None:
    """Print the tables; exit with 1 if something is too slow or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--write", type=Path, help="also append the figures to this file")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.rank:
        rank_main(chosen.rank)
        return
    on_card = chosen.device == "cuda" and torch.cuda.is_available()
    if chosen.write or on_card:
        sys.stdout = Tee(chosen.write or NOTES)
    if on_card:
        good = gpu_training.card()
    else:
        if chosen.device == "cuda":
            print("torch sees no GPU here; the processor's part runs instead.")
        good = processor()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
