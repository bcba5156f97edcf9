"""Kill simulations while they write their file, and compare what each file says is there with the finished one.

    python tools/kill_simulations.py --kills 1000 -- gaia --kind mst --rounds 6000 --engine simpy

After `--` are arguments of `silosim simulate`. Each simulation is a fork of this process, killed at a random moment.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np

from scenarios.cli.app import app
from scenarios.runfile import simulated_rounds

WAIT_S = 120.0


def begun(arguments: Sequence[str]) -> int:
    """Start `silosim simulate` in a fork that prints nothing; the process' number."""
    child = os.fork()
    if child:
        return child
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        app(["simulate", *arguments], standalone_mode=False)
    except BaseException:
        os._exit(1)
    os._exit(0)


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    until_s = time.monotonic() + WAIT_S
    while not path.exists():
        if time.monotonic() > until_s:
            sys.exit(f"{path.name} is not there after {WAIT_S} s")
        time.sleep(0.001)


def differences(cut: h5py.File, whole: h5py.File) -> Iterator[str]:
    """What a file that was cut short says of its rounds and the finished one does not."""
    for kind, group in cut.get("simulation", {}).items():
        rounds, finished = int(group.attrs["rounds"]), whole[f"simulation/{kind}"]
        for name in ("round_start_s", "arrival_s", *simulated_rounds.MESSAGE_FIELDS):
            if name in group and not np.array_equal(
                group[name][:rounds], finished[name][:rounds], equal_nan=True
            ):
                yield f"{kind}: {name} of the rounds that are there"
        ends, end_s = finished["round_start_s"], group.attrs["end_s"]
        if rounds and end_s != ends[rounds].max() and not np.isnan(end_s):
            yield f"{kind}: end_s of the rounds that are there"
        # Of arcs with a message in every round, bits go with the rounds.
        expected = finished["link_bits"][:] * (rounds / finished.attrs["rounds"])
        if rounds and np.isnan(end_s):
            yield "(killed while link_bits were written)"
        elif rounds and not np.allclose(group["link_bits"][:], expected, rtol=1e-9, atol=0):
            yield f"{kind}: link_bits of the rounds that are there"
        if 0 < rounds < finished.attrs["rounds"]:
            after = group["round_start_s"][rounds]
            state = (
                "NaN" if np.isnan(after).all() else "whole" if np.array_equal(after, ends[rounds]) else "part"
            )
            yield f"(row after the last: {state})"


def look(path: Path, whole: h5py.File) -> list[str]:
    """What is wrong with a file that was cut short; empty where nothing is."""
    if not path.exists():
        return ["(no file yet)"]
    try:
        with h5py.File(path) as cut:
            if not any(group.attrs["rounds"] for group in cut.get("simulation", {}).values()):
                return ["(no rounds yet)"]
            return ["(rounds)", *differences(cut, whole)]
    except (OSError, KeyError) as error:
        return ["(cannot be opened)" if isinstance(error, OSError) else f"lacks {error}"]


def main() -> None:
    """Kill, compare, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--flush-s", type=float, help="seconds between flushes instead of the program's own")
    parser.add_argument("simulate", nargs="*", default=["gaia", "--kind", "mst", "--rounds", "6000"])
    asked = parser.parse_args()
    if asked.flush_s is not None:
        simulated_rounds._FLUSH_S = asked.flush_s
    draw, found = random.Random(asked.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.h5")
        arguments = [*asked.simulate, "--force", "-o", str(path)]
        for _ in range(2):  # the first one compiles
            child = begun(arguments)
            wait_for(path.with_name("run.h5.partial"))
            began_s = time.monotonic()
            _, status = os.waitpid(child, 0)
            took_s = time.monotonic() - began_s
            if status:
                sys.exit("silosim simulate ends with an error")
        path = path.rename(path.with_name("whole.h5"))
        cut, arguments[-1] = Path(folder, "cut.h5"), str(Path(folder, "cut.h5"))
        partial = cut.with_name("cut.h5.partial")
        kills = 0
        with h5py.File(path) as whole, suppress(KeyboardInterrupt):  # which prints what was found so far
            while kills < asked.kills:
                child = begun(arguments)
                wait_for(partial)
                time.sleep(draw.uniform(0, took_s))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                found.update(set(look(cut if cut.exists() else partial, whole)))
                for file in (cut, partial):
                    file.unlink(missing_ok=True)
                kills += 1
    print(f"{kills} kills within {took_s:.2f} s of: silosim simulate {' '.join(asked.simulate)}")
    for what, count in sorted(found.items()):  # in parentheses: what is no error
        print(f"{count:6}  {what}")
    sys.exit(any(not what.startswith("(") for what in found))


if __name__ == "__main__":
    main()
