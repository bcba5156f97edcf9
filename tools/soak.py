"""Studies, runs and kills, one after the other for a given time: what is lost, and what grows.

    python tools/soak.py --minutes 10

In this process, whose memory and open files are measured after each piece: a study of eight points, a run of two ranks,
and a training that is left at its first row. Beside it: a run and a study in processes of their own that a signal ends
at a random moment and that then go on. Results must be those of the first ones to the letter. The measures of the
second half are printed as slopes.
"""

import argparse
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np

import silosim
from training import HistoryRow, MixingPlan, TrainingConfig, TrainingJob, load_backend

SILOSIM = Path(sys.executable).parent / "silosim"
RUN = """
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
[overlays]
kinds = ["ring"]
[simulation]
rounds = 200
[training]
ranks = 2
model = "softmax"
rounds = 200
log_every = 5
checkpoint_every = 20
executor = "loop"
"""
STUDY = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["star", "ring", "mst", "matcha"]
[simulation]
rounds = 300
[study.grid]
"network.access" = ["100 Mbps", "1 Gbps"]
"workload.local_steps" = [1, 5]
seed = [0, 7]
"""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def numbers(path: Path) -> dict[str, list[float]]:
    """What a run has found."""
    with h5py.File(path) as file:
        group, starts = file["training/ring"], file["simulation/ring/round_start_s"]
        return {"loss": group["train_loss"][:].tolist(), "start": starts[-1].tolist()}


class Soak:
    """One folder, and what is done in it.

    Parameters
    ----------
    folder : Path
    draw : random.Random
        Chooses what is done, and when it is ended.
    """

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self.draw = folder, draw
        self.scenario, self.grid = folder / "run.toml", folder / "grid.toml"
        self.scenario.write_text(RUN)
        self.grid.write_text(STUDY)
        self.done: Counter[str] = Counter()
        self.lost: list[str] = []
        self.took_s: dict[str, float] = {}
        self.expected: dict[str, object] = {}

    def here_study(self) -> None:
        """A study in this process."""
        (self.folder / "here.csv").unlink(missing_ok=True)  # what is there is not computed again
        silosim.study(self.grid, self.folder / "here.csv", workers=1)
        self._compare("study", (self.folder / "here.csv").read_bytes())

    def here_run(self) -> None:
        """A run whose ranks this process starts."""
        silosim.run(self.scenario, self.folder / "here.h5", force=True)
        self._compare("run", numbers(self.folder / "here.h5"))

    def here_left(self) -> None:
        """A training that is left at its first row."""
        config = TrainingConfig(model="softmax", rounds=10**6, log_every=10**6, ranks=2, executor="loop")
        mixing = MixingPlan.constant(np.full((4, 4), 0.25), 10**6)
        job = TrainingJob(config=config, silos=4, local_steps=1, seed=0, mixing=mixing)
        # Its reports are closed where nobody holds them any more: with the loop.
        for report in load_backend("mpi").train(job):
            if isinstance(report, HistoryRow):
                break

    def killed_run(self) -> None:
        """A run of its own that is ended and goes on."""
        path = self.folder / "killed.h5"
        self._kill("run", [SILOSIM, "run", self.scenario, "-o", path], again=["--resume"])
        self._compare("run", numbers(path))
        path.unlink()

    def killed_study(self) -> None:
        """A study of its own, by two processes, that is ended and goes on."""
        path = self.folder / "killed.csv"
        self._kill("study", [SILOSIM, "study", self.grid, "-o", path, "--workers", "2"], again=[])
        self._compare("study", path.read_bytes())
        path.unlink()

    def _kill(self, name: str, command: list[object], *, again: list[str]) -> None:
        """End a command at a random moment, then let it go on to its end."""
        arguments = [str(part) for part in command]
        began_s = time.monotonic()
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(self.draw.uniform(0, self.took_s.get(name, 10.0)))
        except subprocess.TimeoutExpired:
            number = self.draw.choice(SIGNALS)
            process.send_signal(number)
            if (status := process.wait()) not in (0, -number, 128 + number):
                self.lost.append(f"{name}: status {status} after {number.name}")
            self.done[f"{name} ended by {number.name}"] += 1
            arguments += again
            began_s = time.monotonic()
            finished = subprocess.run(arguments, capture_output=True, text=True, check=False)
            if finished.returncode:
                self.lost.append(f"{name} does not go on: {finished.stderr.strip()[-300:]}")
        self.took_s[name] = max(self.took_s.get(name, 0.0), time.monotonic() - began_s)

    def _compare(self, name: str, found: object) -> None:
        """A result must be that of the first time."""
        if self.expected.setdefault(name, found) != found:
            self.lost.append(f"{name}: other results than the first time")

    def left_over(self) -> None:
        """Note what has no owner any more."""
        time.sleep(2.5)  # a guard and orphaned ranks may take two seconds
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if str(self.folder) in words and int(place.name) != os.getpid():
                    self.lost.append(f"still runs: {words}")
        for path in self.folder.glob("tmp/silosim-*"):
            self.lost.append(f"left: {path.name}")
            path.rename(self.folder / f"found-{path.name}")


def shared_names() -> set[str]:
    """Files of MPICH's shared memory on this machine."""
    return {path.name for path in Path("/dev/shm").glob("mpich_shm_*")}


def resident_bytes() -> int:
    """Memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def slope(values: list[float]) -> float:
    """Growth from one measure to the next in the second half, by least squares."""
    late = np.array(values[len(values) // 2 :])
    return float(np.polyfit(np.arange(len(late)), late, 1)[0]) if len(late) > 1 else 0.0


def main() -> None:
    """Soak, then say what was lost and what grew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    memory: list[float] = []
    files: list[float] = []
    shared = shared_names()
    with tempfile.TemporaryDirectory() as name:
        soak = Soak(Path(name), random.Random(asked.seed))
        tempfile.tempdir = os.environ["TMPDIR"] = str(soak.folder / "tmp")
        (soak.folder / "tmp").mkdir()
        pieces: list[Callable[[], None]] = [
            *(soak.here_study, soak.here_run, soak.here_left),
            *(soak.killed_run, soak.killed_study),
        ]
        until_s, turn = time.monotonic() + 60 * asked.minutes, 0
        while time.monotonic() < until_s or turn < len(pieces):
            piece = pieces[turn] if turn < len(pieces) else soak.draw.choice(pieces)
            piece()
            turn += 1
            soak.done[piece.__name__] += 1
            soak.left_over()
            gc.collect()
            memory.append(resident_bytes() / 1e6)
            files.append(float(len(list(Path("/proc/self/fd").iterdir()))))
    for what, count in sorted(soak.done.items()):
        print(f"{count:6}  {what}")
    for what, values, unit in (("memory", memory, "MB"), ("open files", files, "")):
        print(f"{what}: {values[0]:.5g} to {values[-1]:.5g} {unit}, {slope(values):+.3g} {unit} a piece")
    print(f"files in /dev/shm of MPICH, of all programs: {len(shared_names() - shared)} new")
    for what in soak.lost:
        print(f"LOST: {what}")
    sys.exit(bool(soak.lost))


if __name__ == "__main__":
    main()
