"""Change one thing in the code at a time, and see whether a test fails: how much the tests notice.

    python tools/mutants.py [--sample 60] [--seed 0] [--timeout 1200] [PACKAGE_OR_FOLDER ...]

Each change (a comparison, a sum, a number, a condition, a minimum, an assignment) is made in a copy of the packages, so
that the working tree stays as it is. The tests of its package run against the copy until one fails: first those whose
files are named like the changed module, then those that import it most directly. Slow tests are left out. What numba
compiles is compiled anew for each change in it.

Prints one line for each change and the score. Some survivors are equivalent: judge each. A change whose tests take
longer than `--timeout` counts as not killed.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@dataclass(frozen=True)
class Mutant:
    """A file's text with one change."""

    path: Path
    line: int
    before: str
    after: str
    text: str


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
    """Nodes that do something: no annotations, decorators, or default docstrings of overloads."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from code_nodes(child)


def mutants_of(path: Path) -> list[Mutant]:
    """All changes of one file."""
    text = path.read_text()
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    starts = [0, *(sum(map(len, lines[: k + 1])) for k in range(len(lines)))]
    whole, found = text.encode(), []
    for node in code_nodes(ast.parse(text)):
        if not hasattr(node, "lineno") or (isinstance(node, ast.If) and node.test.lineno != node.lineno):
            continue
        # Of a whole statement, only its condition changes.
        old = node.test if isinstance(node, ast.If) else node
        start, end = (
            starts[old.lineno - 1] + old.col_offset,
            starts[old.end_lineno - 1] + old.end_col_offset,
        )
        before = whole[start:end].decode()
        for new in changed(node):
            after = ast.unparse(new.test if isinstance(new, ast.If) else new)
            after = f"({after})" if isinstance(new, ast.expr) and not isinstance(node, ast.Name) else after
            mutated = (whole[:start] + after.encode() + whole[end:]).decode()
            try:
                ast.parse(mutated)
            except SyntaxError:  # part of a format string
                continue
            found.append(Mutant(path, old.lineno, " ".join(before.split()), " ".join(after.split()), mutated))
    return found


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


def test_files(path: Path) -> list[Path]:
    """The test files of a module's package: first those named like it, then those that import it most directly."""
    # The tests of the Python entry point are those of what it exports, too.
    folders = dict.fromkeys((path.relative_to(ROOT).parts[0], "silosim"))
    files = [file for folder in folders for file in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    far = {file: distances(file).get(path, sys.maxsize) for file in files}
    return sorted(
        files, key=lambda file: (path.stem not in file.stem and file.stem[5:] not in path.stem, far[file])
    )


def passes(copied: Path, *arguments: str | Path, timeout_s: float) -> bool:
    """Whether tests of the copy pass; a time-out is an error, as it says nothing."""
    # PYTHONPATH comes before the path of an editable installation, in the processes that tests start, too.
    environment = os.environ | {"PYTHONPATH": str(copied), "HYPOTHESIS_PROFILE": "quick"}
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", "--timeout", "120"]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    done = subprocess.run(
        command, cwd=copied, env=environment, capture_output=True, timeout=timeout_s, check=False
    )
    # 5: all of these files' tests are slow ones.
    return done.returncode in (0, 5)


def verdict(mutant: Mutant, copied: Path, timeout_s: float) -> str:
    """Whether a test fails on a copy with the change; a test that never ends fails after its own time."""
    target = copied / mutant.path.relative_to(ROOT)
    before = target.read_text()
    target.write_text(mutant.text)
    files = [copied / file.relative_to(ROOT) for file in test_files(mutant.path)]
    try:
        # Most changes are noticed by the first files; the others take long to be imported alone.
        stages = filter(None, (files[:NEAREST], files[NEAREST:]))
        return (
            "survived" if all(passes(copied, *stage, timeout_s=timeout_s) for stage in stages) else "killed"
        )
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        target.write_text(before)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="*", default=PACKAGES, help="packages, folders or files")
    parser.add_argument("--sample", type=int, default=60, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for the tests of one change")
    parser.add_argument(
        "--unchecked", action="store_true", help="do not run all tests without a change first"
    )
    chosen = parser.parse_args()
    files = [
        file
        for place in chosen.places
        for file in ([ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py")))
    ]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    sample = random.Random(chosen.seed).sample(mutants, min(chosen.sample, len(mutants)))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "out", "data-*")
        shutil.copytree(ROOT, copied, ignore=ignored)
        if not chosen.unchecked and not passes(copied, "-n", "2", timeout_s=1800):
            sys.exit("Tests fail without any change.")
        for number, mutant in enumerate(sample, 1):
            found = verdict(mutant, copied, chosen.timeout)
            killed += found == "killed"
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"{number:3} {found:8} {place}: {mutant.before} -> {mutant.after}", flush=True)
    print(
        f"{killed} of {len(sample)} killed ({100 * killed / max(1, len(sample)):.1f} %), of {len(mutants)} possible"
    )


if __name__ == "__main__":
    main()
