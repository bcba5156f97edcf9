"""Change one thing in the code at a time, and see whether a test fails: how much the tests notice.

    python tools/mutants.py SAMPLE SEED PACKAGE_OR_FILE ...

All quick tests run once with coverage, which tells those that run each line. Each change is made in a copy of the
repository, where these run until one fails, those first that run least of the module, and then the slow tests of the
files that use it most. Some survivors are equivalent: judge each.
"""

import argparse
import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import coverage

PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
         (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or), ("min", "max"), ("argmin", "argmax"),
         ("minimum", "maximum"), ("any", "all")]  # fmt: skip
OTHER = dict(PAIRS) | {after: before for before, after in PAIRS} | {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult}
PYTEST = [sys.executable, "-m", "pytest", "-q"]
# A changed line may signal every process that it sees, leave some behind, ask for all memory, or never end.
RIGHTS = "" if os.geteuid() == 0 else "--map-current-user"
RUN = f"""timeout -s KILL 900 unshare {RIGHTS} --fork --pid --mount-proc --kill-child \
sh -c 'ulimit -d 8388608; "$@"; exit $?' sh"""
ALONE = [*shlex.split(RUN), *PYTEST, "-x", "-p", "no:cacheprovider", "@tests.txt", "-m"]
VERDICTS = {0: "survived", 1: "killed", 2: "killed", 5: "survived", 137: "too long"}
"""By exit code: pytest's is 1 where a test fails, 2 where a test file cannot be imported, 5 without tests."""


def code_nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes but those of decorators, and of whether zip checks lengths that are equal."""
    parts = [part for node in ast.walk(tree) for part in getattr(node, "decorator_list", [])]
    parts += [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "strict"]
    left_out = {id(node) for part in parts for node in ast.walk(part)}
    return [node for node in ast.walk(tree) if id(node) not in left_out]


def change(node: ast.AST) -> bool:
    """Change a node, if it is of a kind that is changed."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            node.ops = [OTHER[type(op)]()]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            node.op = OTHER[type(op)]()
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            node.test = ast.UnaryOp(ast.Not(), test)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            node.operand = ast.UnaryOp(ast.Not(), operand)
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=(int() | float()) as value):
            node.value = value + 1
        case ast.Name(id=name) if name in OTHER:
            node.id = OTHER[name]
        case ast.Attribute(attr=name) if name in OTHER:
            node.attr = OTHER[name]
        case ast.Return(value=value) | ast.Assign(targets=[ast.Subscript() | ast.Attribute()], value=value):
            if value is None or ast.unparse(value) == "None":
                return False
            node.value = ast.Constant(None)
        case _:
            return False
    return True


def traced_lines(tree: ast.AST, node: ast.AST) -> range:
    """Lines of a node; none at import and in what numba compiles, which no test is seen to run."""
    lines = range(node.lineno, node.end_lineno + 1)
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef) and one.body[0].lineno <= node.lineno <= one.end_lineno:
            return range(0) if any("compiled" in ast.unparse(each) for each in one.decorator_list) else lines
    return range(0)


def verdict(path: Path, text: str, stages: list[tuple[list[str], str]]) -> str:
    """Of tests, stage by stage, in a copy of the repository in which a file has this text."""
    found = "survived"
    with tempfile.TemporaryDirectory() as folder:
        copied = shutil.copytree(".", f"{folder}/copy", ignore=shutil.ignore_patterns(".*", "out", "data-*"))
        Path(copied, path).write_text(text)
        settings = {"PYTHONPATH": copied, "HYPOTHESIS_PROFILE": "quick", "OMP_NUM_THREADS": "1"}
        for tests, marker in stages:
            if tests and found == "survived":
                Path(copied, "tests.txt").write_text("\n".join(tests))
                run = [*ALONE, marker]
                done = subprocess.run(run, cwd=copied, env=os.environ | settings, capture_output=True)
                found = VERDICTS.get(done.returncode, f"exit code {done.returncode}")
    return found


def judged(ran: coverage.CoverageData, mutant: tuple[Path, int]) -> str:
    """Whether the tests notice a change, and what it is."""
    path, place = mutant
    tree = ast.parse(path.read_text())
    node = code_nodes(tree)[place]
    where, before = getattr(node, "test", node), ast.unparse(node)
    lines = traced_lines(tree, where)
    change(node)
    words = " -> ".join(text.partition("\n")[0] for text in (before, ast.unparse(node)))
    # What a fixture runs, every test of its file may use.
    runs = [
        (line, context.partition("::")[0] if phase == "setup" else context)
        for line, contexts in ran.contexts_by_lineno(str(path.absolute())).items()
        for context, _, phase in (context.rpartition("|") for context in filter(None, contexts))
    ]
    size = Counter(test for _, test in runs)
    # Lines that only run at import, or as something is compiled, concern all tests of the module.
    tests = sorted({test for line, test in runs if line in lines} or size)
    tests.sort(key=lambda test: (path.stem not in test, size[test]))
    users = Counter(test.partition("::")[0] for test in size)
    every = map(str, Path("tests").rglob("test_*.py"))
    files = sorted(every, key=lambda file: (path.stem not in file, -users[file], file))[:8]
    quick = [(tests[:30], "not slow"), (tests[30:] if tests else files, "not slow")]
    return f"{verdict(path, ast.unparse(tree), [*quick, (files, 'slow')])} {path}:{where.lineno}: {words}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sample", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("places", type=Path, nargs="+")
    asked = parser.parse_args()
    files = [file for place in asked.places for file in sorted(place.rglob("*.py")) or [place]]
    same = ast.unparse(ast.parse(files[0].read_text()))
    if (unchanged := verdict(files[0], same, [(["tests/silosim"], "not slow")])) != "survived":
        sys.exit(f"A copy without any change: {unchanged}.")
    nodes = {file: code_nodes(ast.parse(file.read_text())) for file in files}
    possible = [(file, place) for file in files for place, node in enumerate(nodes[file]) if change(node)]
    sample = random.Random(asked.seed).sample(possible, min(asked.sample or len(possible), len(possible)))
    with tempfile.TemporaryDirectory() as folder:
        data, settings = Path(folder, "data"), Path(folder, "settings")
        changed = ",".join(sorted({str(file) for file, _ in sample}))
        settings.write_text(f"[run]\ndata_file = {data}\ninclude = {changed}\n")
        traced = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        subprocess.run([*PYTEST, "-n", "2", "-m", "not slow", *traced], check=True)
        ran = coverage.CoverageData(str(data))
        ran.read()
        found = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(partial(judged, ran), sample):
                print(line, flush=True)
                found += [line.startswith("killed")]
    print(f"{sum(found)} of {len(found)} killed ({sum(found) / len(found):.1%}), of {len(possible)} possible")


if __name__ == "__main__":
    main()
