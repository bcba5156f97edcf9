"""Kill every command that writes a file at random times, many times, and look what stands under a final name.

Each command is run once for reference. Then it is started again and again in a forked process and killed with SIGKILL:
half of the times at a random time of its duration, half before a random one of the steps that the files of its folder
see (opening, locking, renaming, removing). After each kill every file under a final name must be whole: what was there
before, the bytes of the reference, or a file of results that is read. At the end the command must succeed, with nothing
left beside its outputs. A run that goes on begins with what a killed one left, and must go on again after each kill.
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.cli.main import main
from scenarios.runfile.paths import PARTIAL, RUN_ENDINGS
from scenarios.runfile.reader import read_run
from scenarios.validation.file import SCHEMA as VALIDATION
from scenarios.validation.file import read_validation
from topologies import InputError

OLD = b"what was there before\n"
SCENARIO = """
name = "killed"
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
[overlays]
kinds = ["star", "ring"]
[simulation]
rounds = 60
[training]
ranks = 1
model = "softmax"
rounds = 40
log_every = 2
learning_rate = 0.5
checkpoint_every = 4
keep_models = true
"""
STUDY = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring", "mst"]
[study.grid]
"network.access" = ["100 Mbps", "1 Gbps", "10 Gbps"]
"workload.local_steps" = [1, 2, 5]
"""
_STEPS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "fcntl.flock")
_EXIT_DONE = 0
_IMPORTED = ("scenarios.cli.app", "scenarios.report.plots", "scenarios.studies.run", "pandas")
_TO_TRAIN = ("training.dpasgd",)
_BASE = "base.h5"
"""The run that some commands read."""


@dataclass(frozen=True)
class Case:
    """A command and the files that it writes.

    Attributes
    ----------
    name : str
    arguments : tuple of str
    outputs : tuple of str
        Files or folders with a final name.
    replaces : bool
        Whether files are there before, which ``--force`` replaces.
    goes_on : tuple of str
        What a killed command has left of it: the command without its last word, once it has left these files.
    """

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    replaces: bool = True
    goes_on: tuple[str, ...] = ()


CASES = (
    Case("sweep", ("sweep", "gaia", "--access", "1 Gbps", "--rounds", "20", "-o", "s"), ("s.csv", "s.png")),
    Case("tables", ("tables", "multigraph", "--network", "gaia", "-o", "t.json"), ("t.json",)),
    Case("partition", ("partition", "gaia", "-o", "p.png", "-o", "p.csv"), ("p.png", "p.csv")),
    Case("underlay, a map", ("underlay", "gaia", "-o", "u.html"), ("u.html",)),
    Case("underlay --convert", ("underlay", "gaia", "--convert", "u.gml"), ("u.gml",)),
    Case("upgrade", ("upgrade", "gaia", "--kind", "ring", "--budget", "2", "-o", "l"), ("l.csv", "l.png")),
    Case(
        "validate",
        ("validate", "gaia", "--kind", "ring", "-o", "v"),
        ("v/validation-gaia.csv", "v/validation-gaia.h5", "v/validation-gaia.png"),
    ),
    Case(
        "simulate", ("simulate", "gaia", "--rounds", "200", "-o", "a.h5", "-o", "a.json"), ("a.h5", "a.json")
    ),
    Case(
        "study, CSV", ("study", "study.toml", "--workers", "1", "-o", "st.csv"), ("st.csv",), replaces=False
    ),
    Case(
        "study, Parquet",
        ("study", "study.toml", "--workers", "1", "-o", "st.parquet"),
        ("st.parquet",),
        replaces=False,
    ),
    Case("run", ("run", "killed.toml", "-o", "r.h5"), ("r.h5", "r.models")),
    Case(
        "run --resume",
        ("run", "killed.toml", "-o", "q.h5", "--resume"),
        ("q.h5", "q.models"),
        replaces=False,
        goes_on=("q.h5.partial", "q.h5.checkpoints"),
    ),
    Case("plot", ("plot", "base.h5", "-o", "b.png"), ("b.png",)),
    Case("replay", ("replay", "base.h5", "--access", "1 Gbps", "-o", "y.h5"), ("y.h5", "y.png")),
    Case("report", ("report", "base.h5", "-o", "b.html"), ("b.html",)),
    Case("timeline", ("timeline", "base.h5", "-o", "trace.json"), ("trace.json",)),
    Case("export", ("export", "base.h5", "-o", "data"), ("data",), replaces=False),
    Case("export --force", ("export", "base.h5", "-o", "again"), ("again",)),
    Case("init", ("init", "i.toml", "--network", "gaia"), ("i.toml",), replaces=False),
)


def in_fork(
    arguments: Sequence[str], *, steps: int | None = None, after_s: float | None = None
) -> int | None:
    """Run a command in a forked process; its exit code, or None where it was killed.

    Parameters
    ----------
    arguments : sequence of str
    steps : int, optional
        It is killed before this step of its files, counted from 0.
    after_s : float, optional
        It is killed after so many seconds.
    """
    child = os.fork()
    if child == 0:
        _command(arguments, _Steps(os.getcwd(), steps))
    if after_s is not None:
        time.sleep(after_s)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


class _Steps:
    """Counts the steps that files of a folder see, and kills this process before one of them.

    Parameters
    ----------
    folder : str
    last : int or None
        The step at which it ends; where it is beyond all, their number is in the file ``.steps`` afterwards.
    """

    def __init__(self, folder: str, last: int | None) -> None:
        self._folder, self._last = folder, last
        self.taken = 0

    def __call__(self, event: str, values: tuple[Any, ...]) -> None:
        """Take a step, if an event of the interpreter is one."""
        if event == "ctypes.dlsym" and values[1] == "renameat2":
            event, values = "os.rename", (0,)
        if event not in _STEPS or (event == "open" and not int(values[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
            return
        named = values[0]
        is_path = isinstance(named, str | bytes | os.PathLike)
        if is_path and not os.path.abspath(os.fsdecode(named)).startswith(self._folder):
            return
        if self.taken == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken += 1


def _command(arguments: Sequence[str], steps: _Steps) -> None:
    """Run a command in this process, which does not return."""
    code = 1
    try:
        sys.argv = ["silosim", *arguments]
        said = io.StringIO()
        sys.addaudithook(steps)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                main()
            except SystemExit as stopped:
                code = int(stopped.code or 0)
        if code:
            print(said.getvalue(), file=sys.__stderr__, flush=True)
        taken = steps.taken
        Path(".steps").write_text(str(taken))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def contents(path: Path) -> dict[str, bytes]:
    """Bytes of a file, or of all files of a folder."""
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return {"": path.read_bytes()} if path.exists() else {}


def restore(path: Path, reference: dict[str, bytes]) -> None:
    """Write what was there before: a file, or a folder of files of the same names."""
    for name in reference:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(OLD)


def is_old(there: dict[str, bytes]) -> bool:
    """Whether these are the contents of what was there before."""
    return {*there.values()} == {OLD}


def fault(path: Path, reference: dict[str, bytes], *, replaces: bool) -> str | None:
    """What is wrong with an output after a kill."""
    there = contents(path)
    if not there:
        return f"{path} is gone" if replaces and reference else None
    if there == reference or (is_old(there) and there.keys() == reference.keys()):
        return None
    if path.suffix in RUN_ENDINGS:
        try:
            read_validation(path) if VALIDATION.encode() in there[""] else read_run(path)
        except InputError as error:
            return str(error)
        return None
    if path.suffix == ".json":  # which may state speeds, that differ
        try:
            json.loads(there[""])
        except ValueError as error:
            return f"{path}: {error}"
        return None
    same = there.keys() == reference.keys() and path.is_dir()
    if same:  # state dicts of torch and event files
        return next(
            (f"{path}/{name} is cut" for name, data in there.items() if len(data) != len(reference[name])),
            None,
        )
    return f"{path} has {sum(map(len, there.values()))} of {sum(map(len, reference.values()))} bytes"


def cut_short(case: Case, source: random.Random) -> None:
    """Kill the command that a case goes on with until there is what it goes on from; keep that in ``.begun``."""
    left = [Path(name) for name in case.goes_on]
    lasts = _counted(case.arguments[:-1], [*left, *map(Path, case.outputs)])
    while not all(path.exists() for path in left) or not any(Path(case.goes_on[-1]).rglob("SHA256SUMS")):
        remove([*left, *map(Path, case.outputs)])
        in_fork(case.arguments[:-1], steps=source.randrange(lasts // 3, lasts))
    Path(".begun").mkdir(exist_ok=True)
    for path in left:
        path.rename(Path(".begun") / path)


def _counted(arguments: Sequence[str], written: Sequence[Path]) -> int:
    """Steps of a command, whose files are removed again."""
    in_fork(arguments)
    remove(written)
    return int(Path(".steps").read_text())


def remove(paths: Sequence[Path]) -> None:
    """Remove files and folders, as far as they are there."""
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def losses(run: Path) -> dict[str, list[float]]:
    """Losses of the rows of a run, by overlay; none of one that is not there."""
    if not run.exists():
        return {}
    return {each.kind: each.history["train_loss"].tolist() for each in read_run(run).overlays}


def kill_many(case: Case, folder: Path, kills: int, source: random.Random) -> dict[str, object]:
    """Kill one command so many times in a folder with the inputs, and say what was found."""
    os.chdir(folder)
    paths = [Path(name) for name in case.outputs]
    before = {path.name for path in folder.iterdir()} | {".steps", ".begun"}
    begun = [Path(name) for name in case.goes_on]
    if begun:
        cut_short(case, source)
    if in_fork(case.arguments) != _EXIT_DONE:
        raise SystemExit(f"{case.name} fails without a kill")
    references = {path: contents(path) for path in paths}
    rows = losses(paths[0]) if begun else {}
    forced = (*case.arguments, *(("--force",) if case.replaces else ()))

    def prepare() -> None:
        remove([*paths, *begun])
        for path in begun:
            kept = Path(".begun") / path
            shutil.copytree(kept, path) if kept.is_dir() else shutil.copy(kept, path)
        for path in paths:
            if case.replaces:
                restore(path, references[path])

    found, done, replaced = list[str](), 0, 0
    prepare()
    begin = time.perf_counter()
    in_fork(forced)
    lasts_s, most = time.perf_counter() - begin, int(Path(".steps").read_text())
    for number in range(kills):
        prepare()
        if number % 2:
            code = in_fork(forced, steps=source.randrange(most))
        else:
            code = in_fork(forced, after_s=source.uniform(0, lasts_s))
        if code not in (None, _EXIT_DONE):
            found.append(f"{case.name} fails with {code} after a kill")
        done += code is not None
        there = [contents(path) for path in paths]
        replaced += any(each and not is_old(each) for each in there)
        faults = (fault(path, references[path], replaces=case.replaces) for path in paths)
        found += [each for each in faults if each]
        if begun:
            goes_on = in_fork(forced)
            faults = (fault(path, references[path], replaces=True) for path in paths)
            found += [f"goes on: {each}" for each in faults if each]
            found += [] if goes_on == _EXIT_DONE else [f"{case.name} does not go on: {goes_on}"]
            found += [] if losses(paths[0]) == rows else [f"{paths[0]} has other rows"]
    prepare()
    if in_fork(forced) != _EXIT_DONE:
        found.append(f"{case.name} fails at the end")
    left = {path.name for path in folder.iterdir()} - before - {Path(name).parts[0] for name in case.outputs}
    found += [f"{name} is left" for name in sorted(left) if PARTIAL in name]
    return {
        "command": case.name,
        "steps": most,
        "kills": kills - done,
        "ended before": done,
        "with a new file": replaced,
        "cut or lost": len(found),
        "found": found,
    }


def prepared(folder: Path, cases: Sequence[Case]) -> None:
    """Write the inputs of commands into a folder."""
    (folder / "killed.toml").write_text(SCENARIO)
    (folder / "study.toml").write_text(STUDY)
    os.chdir(folder)
    is_read = any(_BASE in case.arguments for case in cases)
    if is_read and in_fork(("run", "killed.toml", "-o", _BASE)) != _EXIT_DONE:
        raise SystemExit("the run that others read fails")


def parse() -> argparse.Namespace:
    """Arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=40, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of commands")
    return parser.parse_args()


def run() -> int:
    """Kill all commands, and print a row for each."""
    asked = parse()
    cases = [case for case in CASES if not asked.only or case.name in asked.only]
    trains = any("run" in case.arguments or _BASE in case.arguments for case in cases)
    for module in (*_IMPORTED, *(_TO_TRAIN if trains else ())):  # once, and not in each fork
        importlib.import_module(module)
    source, worst = random.Random(asked.seed), 0
    with tempfile.TemporaryDirectory() as name:
        prepared(Path(name), cases)
        for case in cases:
            result = kill_many(case, Path(name), asked.kills, source)
            worst += int(str(result["cut or lost"]))
            print(json.dumps(result), flush=True)
        os.chdir("/")
    return min(worst, 1)


if __name__ == "__main__":
    sys.exit(run())
