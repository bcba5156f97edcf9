"""Change one thing in the code at a time, and see whether a test fails: how much the tests notice.

    python tools/mutants.py [--sample 60] [--seed 0] [--limit 300] [PACKAGE_OR_FOLDER ...]

Each change (a comparison, a sum, a number, a condition, a minimum, an assignment) is made in a copy of the packages, so
that the working tree stays as it is. All quick tests run once with coverage, which tells the tests that run each line.
Of a change within a function, those tests run in a forked process (`forked_tests.py`) until one fails: first those
whose files are named like the changed module, then those that import it most directly. Where the change is outside of
functions, or in what numba compiles, which is compiled anew, the test files that run the module run in an interpreter
of their own; so do all tests of the nearest files where no quick test fails.

All runs in a process namespace of its own (`unshare` of util-linux), since a changed line may signal every process that
it sees. Prints one line for each change and the score. Some survivors are equivalent: judge each. A change whose tests
take longer than `--limit` counts as not killed. `--coverage FILE` keeps what ran which line for the next time.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from queue import SimpleQueue

import coverage
import pytest
from forked_tests import Change, ForkedTests

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("topologies", "simulator", "training", "scenarios", "silosim")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
OTHER_NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
               "argmin": "argmax", "argmax": "argmin"}  # fmt: skip

NEAREST = 8
"""Test files that run first."""

PROCESSES = os.cpu_count() or 1

ALL = ("-q", "-p", "no:cacheprovider")
QUICK = (*ALL, "-m", "not slow")
SLOW = (*ALL, "-m", "slow")


@dataclass(frozen=True)
class Function:
    """Where a function's code lies in its file; ``name`` and ``first_line`` as its code object has them."""

    name: str
    first_line: int
    body_line: int
    last_line: int
    compiled: bool


@dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes
    ----------
    path
        Relative to the repository.
    start, end
        Bytes of the file in whose place ``after`` stands.
    line, last_line
        Of what is changed.
    function
        The outermost one that holds the change.
    """

    path: Path
    start: int
    end: int
    after: str
    line: int
    last_line: int
    function: Function | None

    @property
    def forks(self) -> bool:
        """Whether the change is within a function that the interpreter runs."""
        return self.function is not None and not self.function.compiled

    @property
    def text(self) -> str:
        """The whole file with the change."""
        whole = (ROOT / self.path).read_bytes()
        return (whole[: self.start] + self.after.encode() + whole[self.end :]).decode()

    def __str__(self) -> str:
        before = (ROOT / self.path).read_bytes()[self.start : self.end].decode()
        return f"{self.path}:{self.line}: {' '.join(before.split())} -> {' '.join(self.after.split())}"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may become."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            new.ops = [COMPARISONS[type(op)]()]
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not isinstance(new.left, ast.JoinedStr):
            new.op = ARITHMETIC[type(op)]()
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            new = operand
        case ast.If(test=test) | ast.IfExp(test=test):
            new.test = ast.UnaryOp(op=ast.Not(), operand=test)
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int() | float()):
            new.value += 1
        case ast.Name(id=name) if name in OTHER_NAMES:
            new.id = OTHER_NAMES[name]
        case ast.Attribute(attr=name) if name in OTHER_NAMES:
            new.attr = OTHER_NAMES[name]
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            new = ast.Pass()
        case ast.Return(value=value) if value is not None and ast.unparse(value) != "None":
            new.value = ast.Constant(None)
        case _:
            return
    yield new


def code_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that do something: no annotations or decorators, nor whether zip checks lengths that are equal."""
    if isinstance(tree, ast.keyword) and tree.arg == "strict":
        return
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from code_nodes(child)


def functions_of(tree: ast.AST, names: tuple[str, ...] = ()) -> Iterator[Function]:
    """The outermost functions and the methods of a file."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions_of(node, (*names, node.name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [ast.unparse(one) for one in node.decorator_list]
            yield Function(
                name=".".join((*names, node.name)),
                first_line=min([node.lineno, *(one.lineno for one in node.decorator_list)]),
                body_line=node.body[0].lineno,
                last_line=node.end_lineno or node.lineno,
                compiled=any("compiled" in one or "jit" in one for one in decorators),
            )
        else:
            yield from functions_of(node, names)


def mutants_of(path: Path) -> list[Mutant]:
    """All changes of one file; some, in format strings, may not parse."""
    text = path.read_text()
    tree = ast.parse(text)
    functions = list(functions_of(tree))
    starts = [0, *accumulate(len(line.encode()) for line in text.splitlines(keepends=True))]
    found = []
    for node in code_nodes(tree):
        if not hasattr(node, "lineno") or (isinstance(node, ast.If) and node.test.lineno != node.lineno):
            continue
        # Of a whole statement, only its condition changes.
        old = node.test if isinstance(node, ast.If) else node
        for new in changed(node):
            after = ast.unparse(new.test if isinstance(new, ast.If) else new)
            holds = (one for one in functions if one.body_line <= old.lineno <= one.last_line)
            found.append(
                Mutant(
                    path=path.relative_to(ROOT),
                    start=starts[old.lineno - 1] + old.col_offset,
                    end=starts[old.end_lineno - 1] + old.end_col_offset,
                    after=f"({after})"
                    if isinstance(new, ast.expr) and not isinstance(node, ast.Name)
                    else after,
                    line=old.lineno,
                    last_line=old.end_lineno,
                    function=next(holds, None),
                )
            )
    return found


def parses(mutant: Mutant) -> bool:
    """Whether the file is Python with the change."""
    try:
        ast.parse(mutant.text)
    except SyntaxError:
        return False
    return True


@cache
def module_file(module: str) -> Path | None:
    """The file of a module or package of the repository."""
    place = ROOT.joinpath(*module.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def imports(file: Path) -> dict[str, Path]:
    """What a file imports from the packages, by name: the files that define it, behind what packages export."""
    found = {}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, module_file(alias.name)) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            pairs = [(alias.name, defining_file(node.module, alias.name)) for alias in node.names]
        else:
            continue
        found |= {name: origin for name, origin in pairs if origin is not None}
    return found


def defining_file(module: str, name: str) -> Path | None:
    """The file behind ``from module import name``."""
    own, submodule = module_file(module), module_file(f"{module}.{name}")
    if submodule is not None or own is None or own.name != "__init__.py":
        return submodule or own
    return imports(own).get(name, own)


def distances(file: Path) -> dict[Path, int]:
    """Number of imports from a file to each that it needs."""
    found, latest = {file: 0}, [file]
    while latest:
        latest = [origin for one in latest for origin in imports(one).values() if origin not in found]
        found |= dict.fromkeys(latest, max(found.values()) + 1)
    return found


def by_nearness(path: Path, files: set[Path]) -> list[Path]:
    """Test files: first those named like a module, then those that import it most directly."""
    far = {file: distances(ROOT / file).get(ROOT / path, sys.maxsize) for file in files}
    return sorted(
        files,
        key=lambda file: (path.stem not in file.stem and file.stem[5:] not in path.stem, far[file], file),
    )


def environment(copied: Path) -> dict[str, str]:
    """For tests of the copy: PYTHONPATH comes before the path of an editable installation, in their processes, too."""
    return {"PYTHONPATH": str(copied), "HYPOTHESIS_PROFILE": "quick", "OMP_NUM_THREADS": "1"}


def record(copied: Path, data: Path, files: Iterable[Path]) -> None:
    """Run all quick tests once, and keep which of them ran each line of the files.

    Those that fail, as may happen while they are traced on a busy machine, must pass alone.
    """
    settings = copied / "coverage.cfg"
    # What is not traced runs at its own speed.
    settings.write_text(
        f"[run]\nrelative_files = True\ndata_file = {data}\ninclude = {','.join(map(str, files))}\n"
    )
    traced = ["--cov", "--cov-config", settings, "--cov-context", "test", "--cov-report="]
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-o", f"cache_dir={copied / 'failed'}"]
    again = ["--last-failed", "--last-failed-no-failures", "none"]
    for more in (["-n", str(PROCESSES), *traced], again):
        done = subprocess.run([*tests, *more], cwd=copied, env=os.environ | environment(copied), check=False)
        if not done.returncode and data.exists():
            return
        if done.returncode != pytest.ExitCode.TESTS_FAILED:
            break
    data.unlink(missing_ok=True)
    sys.exit("Tests fail without any change.")


class LinesRun:
    """Which tests ran each line of each file."""

    def __init__(self, data: Path) -> None:
        self._data = coverage.CoverageData(str(data))
        self._data.read()
        self._of_file: dict[str, set[str]] = {}
        for context in self._data.measured_contexts() - {""}:
            test = context.rpartition("|")[0]
            self._of_file.setdefault(test.partition("::")[0], set()).add(test)

    def tests(self, path: Path, lines: range | None = None) -> set[str]:
        """Node ids of the tests that ran one of the lines, or any; what a fixture ran, its whole file may use."""
        found: set[str] = set()
        for line, contexts in self._data.contexts_by_lineno(str(path)).items():
            for context in contexts if lines is None or line in lines else ():
                test, _, phase = context.rpartition("|")
                found |= self._of_file[test.partition("::")[0]] if phase == "setup" else {test}
        return found - {""}


def change_of(mutant: Mutant, ran: LinesRun, copied: Path) -> Change:
    """What the forked process needs."""
    tests = ran.tests(mutant.path, range(mutant.line, mutant.last_line + 1))
    files = by_nearness(mutant.path, {Path(test.partition("::")[0]) for test in tests})
    order = {file: number for number, file in enumerate(files)}
    return Change(
        path=copied / mutant.path,
        text=mutant.text,
        function=(mutant.function.name, mutant.function.first_line),
        tests=tuple(sorted(tests, key=lambda test: (order[Path(test.partition("::")[0])], test))),
    )


def run_forked(
    changes: Sequence[tuple[int, Change]], copied: Path, limit_s: float, report: Callable[[int, str], None]
) -> None:
    """Report the verdicts of changes within functions."""
    os.environ |= environment(copied)
    sys.path.insert(0, str(copied))
    os.chdir(copied)
    plugin = ForkedTests(changes, report, PACKAGES, PROCESSES, limit_s)
    # Without capture, as several processes would share the file that holds what is captured.
    pytest.main([*QUICK, "-s", "--timeout", "60", "--rootdir", str(copied), "tests"], plugins=[plugin])


def verdict(mutant: Mutant, ran: LinesRun, copied: Path, limit_s: float) -> str:
    """Whether a test fails on a copy with the change, in a new interpreter."""
    # Of a module that is imported late, and of what numba compiles, only the first user's lines were seen to run.
    every = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    nearest = by_nearness(mutant.path, every)[:NEAREST]
    if mutant.forks:
        # What a test file computes as it is collected was computed before the fork.
        stages = [(QUICK, nearest), (SLOW, nearest)]
    else:
        others = by_nearness(mutant.path, {Path(test.partition("::")[0]) for test in ran.tests(mutant.path)})
        # Most changes are noticed by the first files; the others take long to be imported alone.
        stages = [(QUICK, nearest), (QUICK, [file for file in others if file not in nearest])]
    target = copied / mutant.path
    before = target.read_text()
    target.write_text(mutant.text)
    try:
        for tests, files in stages:
            if not files:
                continue
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *tests, "-x", "--timeout", "120", *files],
                cwd=copied,
                env=os.environ | environment(copied),
                capture_output=True,
                timeout=limit_s,
                check=False,
            )
            if done.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
                return "killed"
        return "survived"
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        target.write_text(before)


def enter_namespace() -> None:
    """Return in a process that sees only what it starts; what it leaves behind is waited for, and no one stops it."""
    if os.getpid() != 1:
        rights = [] if os.geteuid() == 0 else ["--map-current-user"]
        own = ["--fork", "--pid", "--mount-proc", "--kill-child"]
        try:
            os.execvp("unshare", ["unshare", *rights, *own, sys.executable, *sys.argv])
        except FileNotFoundError:
            sys.exit("unshare of util-linux is missing: a changed line may signal every process.")
    tool = os.fork()
    while tool:
        process, status = os.waitpid(-1, os.WUNTRACED)
        if process != tool:
            continue
        if not os.WIFSTOPPED(status):
            sys.exit(abs(os.waitstatus_to_exitcode(status)))
        os.kill(tool, signal.SIGCONT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="*", default=PACKAGES, help="packages, folders or files")
    parser.add_argument("--sample", type=int, default=60, help="number of changes; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--limit", type=float, default=300, help="seconds for the tests of one change")
    parser.add_argument(
        "--coverage", type=Path, help="file of what ran which line: read, or written if missing"
    )
    chosen = parser.parse_args()
    enter_namespace()
    files = [
        file
        for place in chosen.places
        for file in ([ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py")))
    ]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    drawn = random.Random(chosen.seed).sample(mutants, len(mutants))
    sample = list(islice(filter(parses, drawn), chosen.sample or None))
    numbered = list(enumerate(sample, 1))
    verdicts: dict[int, str] = {}

    def report(number: int, found: str) -> None:
        verdicts[number] = found
        print(f"{number:3} {found:8} {sample[number - 1]}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        # One for each process.
        ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "out", "data-*")
        copies = [Path(folder) / f"copy-{number}" for number in range(PROCESSES)]
        for copied in copies:
            shutil.copytree(ROOT, copied, ignore=ignored)
        data = chosen.coverage.resolve() if chosen.coverage else Path(folder) / "lines"
        if not data.exists():
            record(copies[0], data, {mutant.path for mutant in (mutants if chosen.coverage else sample)})
        ran = LinesRun(data)
        free: SimpleQueue[Path] = SimpleQueue()
        for copied in copies:
            free.put(copied)

        def judge(one: tuple[int, Mutant]) -> None:
            copied = free.get()
            report(one[0], verdict(one[1], ran, copied, chosen.limit))
            free.put(copied)

        def report_if_noticed(number: int, found: str) -> None:
            if found != "survived":
                report(number, found)

        forked = [(number, change_of(one, ran, copies[0])) for number, one in numbered if one.forks]
        run_forked([one for one in forked if one[1].tests], copies[0], chosen.limit, report_if_noticed)
        os.chdir(ROOT)
        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(judge, [one for one in numbered if one[0] not in verdicts]))
    killed = list(verdicts.values()).count("killed")
    print(
        f"{killed} of {len(sample)} killed ({100 * killed / max(1, len(sample)):.1f} %), of {len(mutants)} possible"
    )


if __name__ == "__main__":
    main()
