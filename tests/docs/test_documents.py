"""Every command, example and scenario in README and docs does what the page says."""

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from document_blocks import COMMANDS, PAGES, ROOT, Block, blocks, commands, numbers

from scenarios.cli.main import main
from scenarios.config.scenario import parse_scenario
from scenarios.config.study import parse_study

ENVIRONMENT = os.environ | {
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    "PYTHONPATH": str(ROOT),
    "COLUMNS": "120",
}
MINIMAL: dict[str, Any] = {
    "network": {"underlay": "gaia"},
    "workload": {"model_size": "1 Mbit", "compute": "10 ms"},
}
"""What the tables of a page are added to."""


QUICK_PAGES = ("README.md",)
"""Whose blocks are quick tests; those of the others are run with the slow ones."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page in QUICK_PAGES else pytest.mark.slow)
        for page in PAGES
        if any(block.is_run for block in blocks(page))
    ],
)
def test_quick_blocks(page: str, run_block: Callable[[Block], None]) -> None:
    for block in blocks(page):
        if "slow" not in block.notes:
            run_block(block)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any("slow" in block.notes for block in blocks(page))]
)
def test_slow_blocks(page: str, run_block: Callable[[Block], None]) -> None:
    for block in blocks(page):
        if "slow" in block.notes or "file" in block.notes:
            run_block(block)


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_not_run_says_why(page: str) -> None:
    for block in blocks(page):
        where = f"{page}:{block.line}"
        assert block.language, f"{where}: a block needs a language."
        assert block.notes.get("not run", "a reason"), f"{where}: say why the block is not run."
        assert block.language in (*COMMANDS, "text", "json"), f"{where}: {block.language}"


@pytest.mark.parametrize("page", [page for page in PAGES if "/" not in page])
def test_links_of_pages_that_sphinx_does_not_check_lead_to_files(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/project/data_flow.md"])
def test_files_that_architecture_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = [path for path in re.findall(r"`(\w+/[\w/]+\.py)", text) if "NAME" not in path]

    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.fixture
def run_block(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    commands_of_a_new_process: Callable[[], None],
    install_package: Callable[..., Path],
) -> Callable[[Block], None]:
    """Run blocks one after the other in one folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    # No option has searches anneal for less long; it takes most of the time of `best --criterion simulated`.
    monkeypatch.setattr("simulator.designers.simulated_search.ITERATIONS", (20_000, 20_000))
    printed = ""

    def silosim(arguments: list[str]) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["silosim", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return (int(stopped.value.code or 0), *capsys.readouterr())

    def program(path: str) -> tuple[int, str, str]:
        """Run a program here, where torch is loaded already; test_trainer_examples.py starts it anew."""
        threads = torch.get_num_threads()
        with monkeypatch.context() as started:
            started.syspath_prepend(Path.cwd())
            started.setattr("sys.argv", [path])
            try:
                runpy.run_path(path, run_name="__main__")
            finally:
                torch.set_num_threads(threads)
                for module in Path().glob("*.py"):
                    sys.modules.pop(module.stem, None)
        return (0, *capsys.readouterr())

    def command(line: str) -> str:
        if words := re.fullmatch(r"python (\w+\.py) *", line):
            code, out, err = program(words[1])
        elif line.startswith("silosim ") and not re.search(r"[|>;&]", re.sub(r'"[^"]*"', "", line)):
            code, out, err = silosim(shlex.split(line, comments=True)[1:])
        else:
            done = subprocess.run(
                ["bash", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, check=False
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        assert code == 0, f"{line}\n{err}"
        return out + err

    def run(block: Block) -> None:
        nonlocal printed
        where = f"{block.page}:{block.line}"
        if "output" in block.notes:
            check_output(block.text.splitlines(), printed, where)
        if "setup" in block.notes:
            for line in block.notes["setup"].splitlines():
                command(line.strip())
        if "file" in block.notes:
            Path(block.notes["file"]).write_text(block.file_text, encoding="utf-8")
        if not block.is_run:
            return
        if block.language == "python":
            printed = run_python(block, where)
        elif block.language == "toml":
            table = tomllib.loads(block.text)
            if "project" in table:
                install(table["project"], install_package)
                commands_of_a_new_process()
            else:
                study = table.pop("study", None)
                check_scenario(table, where)
                if study is not None:
                    parse_study(block.text, source=where, folder=Path())
        else:
            printed = ""
            for line, shown in commands(block.text):
                out = command(f"{line} {block.notes.get('smaller', '')}")
                check_output(shown, out, where)
                printed += out

    return run


def check_output(shown: list[str], printed: str, where: str) -> None:
    """The numbers of every shown line are together in one printed line."""
    lines = [numbers(line) for line in printed.splitlines()]
    for line in shown:
        if (wanted := numbers(line)) and not any(set(wanted) <= set(line) for line in lines):
            pytest.fail(f"{where}: {line!r} is not in\n{printed}")


def run_python(block: Block, where: str) -> str:
    """Run an example and give what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block.text, where, "exec"), {"__name__": "example"})
    return out.getvalue()


def install(project: dict[str, Any], install_package: Callable[..., Path]) -> None:
    """Install a package with the documented extensions and the entry points of a page."""
    # Without them pip installs nothing.
    assert {"name", "version"} <= project.keys()
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in points.items()) for group, points in groups]
    extensions = (ROOT / "docs" / "extending").glob("*.py")
    modules = {path.stem: path.read_text("utf-8") for path in extensions}
    install_package(project["name"], "\n".join(lines) + "\n", modules)


def check_scenario(given: dict[str, Any], where: str) -> None:
    """A scenario, or tables of one, is accepted."""
    values = given | {key: table | given.get(key, {}) for key, table in MINIMAL.items()}
    if values["network"].keys() & {"sites", "pairs", "bandwidth_matrix"}:
        del values["network"]["underlay"]
    parse_scenario("\n".join(f"{key} = {toml_value(value)}" for key, value in values.items()), source=where)


def toml_value(value: object) -> str:
    """A value in TOML; tables on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {toml_value(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
