"""How fast models are mixed and exchanged: ``python tests/benchmarks/mixing_speed.py`` prints ratios of one run.

Mixing is compared with a copy of the same bytes by one thread, exchange with bare Isend/Irecv of two ranks;
``--mixing`` leaves the exchange out. NOTES.md here keeps the figures of some processors.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from training.engine.communicator import SingleRank
from training.engine.hardware import hardware_name
from training.engine.parameter_buffer import ParameterBuffer
from training.mpi_environment import mpiexec_path, rank_environment, start_mpi

SILOS = 22
SIZES = {"1.2 M": 1_200_000, "11 M": 11_217_552}
ROWS = {"2.6 kB": 650, "4.8 MB": 1_200_000, "45 MB": 11_217_552}
LEAST_MIXING, LARGEST_EXCHANGE = 0.7, 1.2
CPU = torch.device("cpu")


def alternating(
    works: Sequence[Callable[[], Any]], runs: int, before: Callable[[], Any]
) -> list[list[float]]:
    """Wall-clock seconds of some works, which take turns so that a busy machine slows all of them."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs + 1):
        for work, row in zip(works, times, strict=True):
            before()
            began = time.perf_counter()
            work()
            row.append(time.perf_counter() - began)
    return [row[1:] for row in times]


def matrices() -> dict[str, torch.Tensor]:
    """Doubly stochastic matrices: a directed ring, a binary tree, four neighbours, plain and other averages of all."""
    one, unlike = torch.eye(SILOS), torch.arange(1.0, SILOS + 1)
    tree = one.clone()
    for child in range(1, SILOS):
        pair = torch.tensor([child, (child - 1) // 2])
        tree[pair, pair] -= 0.25
        tree[pair, pair.flip(0)] += 0.25
    circulants = {
        "ring": {0: 0.5, 1: 0.5},
        "degree 4": dict.fromkeys((0, 1, 4, 9, 15), 0.2),
        "complete": dict.fromkeys(range(SILOS), 1 / SILOS),
        "complete, rows differ": dict(enumerate((unlike / unlike.sum()).tolist())),
    }
    found = {
        name: sum((weight * torch.roll(one, step, dims=1) for step, weight in row.items()), torch.zeros(()))
        for name, row in circulants.items()
    }
    return {"ring": found.pop("ring"), "tree": tree, **found}


def buffer_of(parameters: int, silos: int, received: int) -> ParameterBuffer:
    """An models with rows of given length and random numbers."""
    models = ParameterBuffer(
        nn.Linear(parameters - 1, 1),
        silos=silos,
        before=0,
        after=received,
        device=CPU,
        kept=0,
        exchange_buffers=False,
    )
    models.rows.uniform_(-1, 1)
    return models


def mixing() -> bool:
    """Print the speed of mixing on one thread; whether it is enough on sparse overlays, whose sums are short."""
    enough = True
    print(f"Mixing of {SILOS} silos, one thread{'copy':>16}{'mixing':>11}   copy / mixing")
    for name, parameters in SIZES.items():
        models = buffer_of(parameters, SILOS, 0)
        for kind, weights in matrices().items():
            copy_s, mix_s = map(
                statistics.median,
                alternating(
                    [
                        lambda models=models: models.gradients.copy_(models.parameters),
                        lambda models=models, weights=weights: models.mix(
                            weights, 0, columns=SingleRank().exchange([], [], models.rows.shape[1])
                        ),
                    ],
                    5 if parameters > 10**7 else 15,
                    lambda: None,
                ),
            )
            enough &= kind.startswith("complete") or copy_s / mix_s >= LEAST_MIXING
            row = f"  {name}, {kind}"
            print(f"{row:<33}{copy_s * 1e3:11.2f} ms{mix_s * 1e3:8.2f} ms{copy_s / mix_s:10.2f}", flush=True)
    return enough


def exchanges() -> bool:
    """Print, on rank 0 of two, the speed of exchanges; whether it is enough."""
    start_mpi(started=2)
    from mpi4py import MPI

    from training.mpi.mpi_communicator import MpiCommunicator

    world, ours = MPI.COMM_WORLD, MpiCommunicator()
    peer, enough = 1 - world.rank, True

    def report(what: str, plain: list[float], times: list[float], most: float | None) -> bool:
        """Print medians of the slower rank's times; whether their ratio is small enough."""
        slowest = np.array([plain, times])
        world.Allreduce(MPI.IN_PLACE, slowest, op=MPI.MAX)
        plain_s, ours_s = np.median(slowest, axis=1)
        if world.rank == 0:
            print(
                f"{what:<33}{plain_s * 1e3:11.3f} ms{ours_s * 1e3:8.3f} ms{ours_s / plain_s:10.2f}",
                flush=True,
            )
        return most is None or bool(ours_s / plain_s <= most)

    if world.rank == 0:
        print(f"Exchange of two ranks{'bare':>26}{'exchange':>13}  exchange / bare")
    for name, width in ROWS.items():
        for rows in (1, 2):
            out, into = torch.ones(rows, width), torch.zeros(rows, width)

            def bare(out: torch.Tensor = out, into: torch.Tensor = into) -> None:
                requests = [world.Irecv(row.numpy(), peer, tag) for tag, row in enumerate(into)]
                requests += [world.Isend(row.numpy(), peer, tag) for tag, row in enumerate(out)]
                MPI.Request.Waitall(requests)

            def exchange(out: torch.Tensor = out, into: torch.Tensor = into, width: int = width) -> None:
                base = 10 * world.rank
                sends = [(peer, base + row, out[row]) for row in range(len(out))]
                receives = [(peer, 10 * peer + row, into[row]) for row in range(len(into))]
                for _ in ours.exchange(sends, receives, width):
                    pass

            runs = {650: 400, 1_200_000: 60}.get(width, 11)
            times = alternating([bare, exchange], runs, world.Barrier)
            # Smaller rows cost what Python's calls and a busy machine's schedule cost.
            enough &= report(
                f"  {rows} of {name} each way", *times, LARGEST_EXCHANGE if width > 10**7 else None
            )
    if world.rank == 0:
        print(f"With mixing of 11 silos a rank{'in turn':>17}{'overlapped':>13}  overlapped / in turn")
    for name, width in list(ROWS.items())[1:]:
        models = buffer_of(width, SILOS // 2, 2)
        weights = torch.rand(SILOS // 2, SILOS // 2 + 2)

        def travel(models: ParameterBuffer = models) -> Any:
            sends = [(peer, 10 * world.rank + row, models.rows[row]) for row in range(2)]
            receives = [(peer, 10 * peer + row, models.received(SILOS // 2 + row)) for row in range(2)]
            return ours.exchange(sends, receives, models.rows.shape[1])

        def in_turn(models: ParameterBuffer = models, weights: torch.Tensor = weights) -> None:
            models.mix(weights, 0, columns=list(travel(models)))

        def overlapped(models: ParameterBuffer = models, weights: torch.Tensor = weights) -> None:
            models.mix(weights, 0, columns=travel(models))

        times = alternating([in_turn, overlapped], 7 if width > 10**7 else 25, world.Barrier)
        report(f"  2 of {name} each way", *times, None)
    return enough


def main() -> int:
    """Run everything; 1 if something is too slow."""
    print(
        f"{hardware_name(CPU)}, {os.cpu_count()} CPUs, {torch.backends.cpu.get_cpu_capability()}, "
        f"load {os.getloadavg()[0]:.1f}, torch {torch.__version__}"
    )
    print("medians of calls that take turns")
    enough = mixing()
    if sys.argv[1:] == ["--mixing"]:
        return int(not enough)
    ranks = subprocess.run(
        [str(mpiexec_path()), "-n", "2", sys.executable, __file__, "rank"],
        env=rank_environment(os.environ),
        check=False,
    )
    return 0 if enough and ranks.returncode == 0 else 1


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(int(not exchanges()) if sys.argv[1:] == ["rank"] else main())
