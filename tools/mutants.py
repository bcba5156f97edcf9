"""Change one thing in the code at a time, and see whether a test fails: how much the tests notice.

    python tools/mutants.py [--sample 60] [--seed 0] [--timeout 300] [PACKAGE_OR_FOLDER ...]

Each change (a comparison, a sum, a number, a condition, a minimum, an assignment) is made in a copy of the packages, so
that the working tree stays as it is. The tests that import the changed module run against the copy, those of its
package where none does; and where they pass, the rest of the package's tests. Slow tests are left out. What numba
compiles is compiled anew for each change in it.

Prints one line for each change and the score. Some survivors are equivalent: judge each.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
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


def test_files(path: Path) -> tuple[list[Path], list[Path]]:
    """The test files that import a module, and the others of its package."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    parent, _, name = module.rpartition(".")
    imported = re.compile(rf"{re.escape(module)}\b|from {re.escape(parent)} import [^\n]*\b{name}\b")
    # The tests of the Python entry point are those of what it exports, too.
    folders = dict.fromkeys((module.partition(".")[0], "silosim"))
    all_files = [file for folder in folders for file in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    near = [file for file in all_files if imported.search(file.read_text())]
    return near, [file for file in all_files if file not in near]


def passes(copied: Path, *arguments: str | Path, timeout_s: float) -> bool:
    """Whether tests of the copy pass; not if they take longer."""
    environment = os.environ | {"PYTHONPATH": str(copied), "HYPOTHESIS_PROFILE": "quick"}
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", "--timeout", "60"]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    try:
        done = subprocess.run(
            command, cwd=copied, env=environment, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    # 5: all of these files' tests are slow ones.
    return done.returncode in (0, 5)


def survives(mutant: Mutant, copied: Path, timeout_s: float) -> bool:
    """Whether all tests pass on a copy with the change."""
    target = copied / mutant.path.relative_to(ROOT)
    before = target.read_text()
    target.write_text(mutant.text)
    try:
        return all(
            passes(copied, *(copied / file.relative_to(ROOT) for file in files), timeout_s=timeout_s)
            for files in filter(None, test_files(mutant.path))
        )
    finally:
        target.write_text(before)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="*", default=PACKAGES, help="packages, folders or files")
    parser.add_argument("--sample", type=int, default=60, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for the tests of one change")
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
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "out", "data-*")
        shutil.copytree(ROOT, copied, ignore=ignored)
        if not chosen.unchecked and not passes(copied, "-n", "2", timeout_s=1800):
            sys.exit("Tests fail without any change.")
        for number, mutant in enumerate(sample, 1):
            survived = survives(mutant, copied, chosen.timeout)
            survivors += survived
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(
                f"{number:3} {'SURVIVED' if survived else 'killed':8} {place}: {mutant.before} -> {mutant.after}",
                flush=True,
            )
    killed = len(sample) - survivors
    print(
        f"{killed} of {len(sample)} killed ({100 * killed / max(1, len(sample)):.1f} %), of {len(mutants)} possible"
    )


if __name__ == "__main__":
    main()
