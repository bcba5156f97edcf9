"""Change one thing in the code at a time, and see whether a test fails: how much the tests notice.

    python tools/mutants.py SAMPLE SEED PACKAGE_OR_FILE ...

All quick tests run once with coverage, which tells those that run each line. Each change is made in a copy of the
repository, where these run until one fails, those first that run least of the module, and then the slow tests of the
files that use it most. Some survivors are equivalent: judge each.
"""

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import coverage

PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
         (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or), (ast.FloorDiv, ast.Mod), ("min", "max"),
         ("argmin", "argmax"), ("minimum", "maximum"), ("any", "all")]  # fmt: skip
OTHER = dict(PAIRS) | {after: before for before, after in PAIRS}
PYTEST = [sys.executable, "-m", "pytest", "-q", "-x"]
# A changed line may signal every process that it sees, leave some behind, ask for all memory, or never end.
# Root needs no other rights, with which it could not give files away.
ALONE = ["timeout", "-sKILL", "900", "unshare", *["--map-current-user"] * (os.geteuid() != 0), "-fp", "--mount-proc",
         "--kill-child", "sh", "-c", 'ulimit -d 8388608; "$@"; exit $?', "sh", *PYTEST, "@tests.txt", "-m"]  # fmt: skip
VERDICTS = {0: "survived", 1: "killed", 2: "killed", 5: "survived", 137: "too long"}
"""By exit code: pytest's is 1 where a test fails, 2 where a test file cannot be imported, 5 without tests.

Judge others: 4 is that of a conftest.py that cannot be imported, and of a test that is not there.
"""


def code_nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes but those of decorators, and of whether zip checks lengths that are equal."""
    nodes = [*ast.walk(tree)]
    parts = [part for node in nodes for part in getattr(node, "decorator_list", [])]
    parts += [node for node in nodes if isinstance(node, ast.keyword) and node.arg == "strict"]
    left_out = {id(node) for part in parts for node in ast.walk(part)}
    return [node for node in nodes if id(node) not in left_out]


def change(node: ast.AST) -> bool:
    """Change a node, if it is of a kind that is changed."""
    match node:
        # Names that a kind of node does not have are ignored.
        case ast.Compare(ops=[op]) | ast.AST(op=op) if type(op) in OTHER:
            node.op, node.ops = OTHER[type(op)](), [OTHER[type(op)]()]
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            node.test = ast.UnaryOp(ast.Not(), test)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            node.operand = ast.UnaryOp(ast.Not(), operand)
        case ast.Constant(value=bool() | int() | float() as value):
            node.value = not value if isinstance(value, bool) else value + 1
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in OTHER:
            node.id = node.attr = OTHER[name]
        case ast.Return(value=value) | ast.Assign(targets=[ast.Subscript() | ast.Attribute()], value=value):
            node.value = ast.Constant(None)
            return value is not None and ast.unparse(value) != "None"
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


def verdict(path: Path, tree: ast.AST, stages: list[tuple[list[str], str]]) -> str:
    """Of tests, stage by stage, in a copy of the repository in which a file has this code."""
    found = "survived"
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(".", f"{folder}/copy", ignore=shutil.ignore_patterns(".*", "out", "data-*"))
        Path(copy, path).write_text(ast.unparse(tree))
        for tests, marker in stages:
            if tests and found == "survived":
                Path(copy, "tests.txt").write_text("\n".join(tests))
                environ = os.environ | {"PYTHONPATH": copy}
                done = subprocess.run([*ALONE, marker], cwd=copy, env=environ, capture_output=True)
                found = VERDICTS.get(done.returncode, f"exit code {done.returncode}")
    return found


def judged(ran: coverage.CoverageData, path: Path, place: int) -> str:
    """Whether the tests notice a change, and what it is."""
    tree = ast.parse(path.read_text())
    node = code_nodes(tree)[place]
    where, before = getattr(node, "test", node), ast.unparse(node)
    lines = traced_lines(tree, where)
    change(node)
    words = " -> ".join(text.partition("\n")[0] for text in (before, ast.unparse(node)))
    rows = ran.contexts_by_lineno(str(path.absolute())).items()
    runs = [(line, *context.rpartition("|")) for line, contexts in rows for context in contexts if context]
    # What a fixture runs, every test of its file may use.
    runs = [(line, test.partition("::")[0] if phase == "setup" else test) for line, test, _, phase in runs]
    size = Counter(test for _, test in runs)
    # Lines that only run at import, or as something is compiled, concern all tests of the module.
    tests = {test for line, test in runs if line in lines} or {*size}
    tests = sorted(tests, key=lambda test: (path.stem not in test, size[test], test))
    users = Counter(test.partition("::")[0] for test in size)
    files = [str(file) for file in Path("tests").rglob("test_*.py")]
    files = sorted(files, key=lambda file: (path.stem not in file, -users[file], file))[:8]
    stages = [(tests[:30], "not slow"), (tests[30:] if tests else files, "not slow"), (files, "slow")]
    return f"{verdict(path, tree, stages)} {path}:{where.lineno}: {words}"


def main() -> None:
    sample, seed, *places = sys.argv[1:]
    files = [file for place in map(Path, places) for file in sorted(place.rglob("*.py")) or [place]]
    os.environ |= {"HYPOTHESIS_PROFILE": "quick", "OMP_NUM_THREADS": "1"}
    unchanged = verdict(files[0], ast.parse(files[0].read_text()), [(["tests/silosim"], "not slow")])
    assert unchanged == "survived", f"a copy without any change: {unchanged}"
    nodes = {file: code_nodes(ast.parse(file.read_text())) for file in files}
    possible = [(file, place) for file in files for place, node in enumerate(nodes[file]) if change(node)]
    mutants = random.Random(int(seed)).sample(possible, min(int(sample) or len(possible), len(possible)))
    with tempfile.TemporaryDirectory() as folder:
        data, settings = Path(folder, "data"), Path(folder, "settings")
        changed = ",".join({str(file) for file, _ in mutants})
        settings.write_text(f"[run]\ndata_file = {data}\ninclude = {changed}\n")
        traced = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        subprocess.run([*PYTEST, "-n", "2", "-m", "not slow", "--timeout=900", *traced], check=True)
        ran, killed = coverage.CoverageData(str(data)), 0
        ran.read()
        for found in ThreadPoolExecutor(os.cpu_count()).map(lambda mutant: judged(ran, *mutant), mutants):
            print(found, flush=True)
            killed += found.startswith("killed")
    print(f"{killed} of {len(mutants)} killed ({killed / len(mutants):.1%}), of {len(possible)} possible")


if __name__ == "__main__":
    main()
