"""What the shell completes: commands, options, and names that options take."""

import shutil
import subprocess
import sys

import pytest
import typer.main

from scenarios.cli.app import app
from scenarios.cli.commands import SUMMARIES
from scenarios.cli.completions import _BY_COMMAND, _BY_NAME, completing
from topologies import DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS, InputError

COMMANDS = typer.main.get_command(app).commands


@pytest.fixture
def complete(monkeypatch, silosim):
    """Ask as bash does for what the last word may become."""

    def ask(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_SILOSIM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return silosim().ok().out.split()

    return ask


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("silosim si", ["simulate"]),
        ("silosim d", ["doctor", "design", "demo"]),
        ("silosim ", [*SUMMARIES]),
        ("silosim design --kin", ["--kind"]),
        ("silosim design geant --kind d", ["delta_mbst"]),
        ("silosim design geant --kind ", [*DESIGNERS, *PERIODIC_DESIGNERS, *RANDOM_DESIGNERS]),
        ("silosim design geant --kind ring --kind ra", ["random_ring"]),
        ("silosim explain geant --kind m", ["mst", "multigraph"]),
        ("silosim design --criterion ", ["paper", "serialized", "all", "simulated", "time-to-accuracy"]),
        ("silosim design ge", ["geant"]),
        ("silosim tables --network e", ["exodus", "ebone"]),
        ("silosim tables m", ["multigraph"]),
        ("silosim study paper-fig3", ["paper-fig3a", "paper-fig3b"]),
        ("silosim partition gaia --partition ge", ["geographic"]),
        ("silosim init --dataset sh", ["shakespeare"]),
        ("silosim sweep geant --access 1 --engine s", ["simpy"]),
        ("silosim design --rates-from s", ["simulated"]),
        ("silosim upgrade --by ", ["paper", "serialized", "load"]),
        ("silosim upgrade geant --kind m", ["mst"]),
        ("silosim import-metrics --unit ", ["rounds", "steps", "epochs"]),
        ("silosim export small.h5 --format ", ["csv", "parquet"]),
        ("silosim run study.toml --tracker t", ["tensorboard"]),
        ("silosim export small.h5 --only m", ["messages", "metrics", "metrics_by_silo"]),
        # The shell completes names of files where nothing is answered.
        ("silosim design my-net", []),
        ("silosim run st", []),
        # An option that is given twice is an error when the command runs, not here.
        ("silosim design --seed 1 --seed 2 --kind d", ["delta_mbst"]),
    ],
)
def test_a_word_is_completed(complete, line, expected):
    assert complete(line) == expected


def test_every_name_stands_for_a_parameter_of_a_command():
    own = {parameter.name for command in COMMANDS.values() for parameter in command.params}

    assert set(_BY_NAME) <= own
    for command, name in _BY_COMMAND:
        assert name in {parameter.name for parameter in COMMANDS[command].params}


def test_every_option_whose_value_is_a_name_has_names():
    without = {
        (name, parameter.name)
        for name, command in COMMANDS.items()
        for parameter in command.params
        if parameter.metavar in ("NAME", "NETWORK", "OVERLAY") and parameter._custom_shell_complete is None
    }

    assert without == set()


def test_names_that_cannot_be_listed_complete_nothing():
    def broken():
        raise InputError("two packages register a designer of one name.")

    assert completing(broken)("a") == []
    assert completing(lambda: ("ab", "b", "abc"))("ab") == ["ab", "abc"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script_that_the_command_prints(tmp_path):
    program = tmp_path / "silosim"
    program.write_text(f"#!{sys.executable}\nfrom scenarios.cli.main import main\nmain()\n")
    program.chmod(0o755)
    script = """
        source <(_SILOSIM_COMPLETE=source_bash silosim)
        COMP_WORDS=(silosim design geant --kind mat) COMP_CWORD=4
        _silosim_completion silosim
        echo "${COMPREPLY[@]}"
        complete -p silosim
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", f"export PATH={tmp_path}:$PATH; {script}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == [
        "matcha matcha_plus matcha_ring matcha_delta_mbst",
        "complete -o default -F _silosim_completion silosim",
    ]


@pytest.mark.parametrize(
    ("shell", "word"), [("zsh", "#compdef silosim"), ("fish", "complete --command silosim")]
)
def test_zsh_and_fish_have_a_script(silosim, monkeypatch, shell, word):
    monkeypatch.setenv("_SILOSIM_COMPLETE", f"source_{shell}")

    assert word in silosim().ok().out
