"""Help pages: one summary for each command, options in sections, an example that can be parsed."""

import inspect
import shlex

import pytest
import typer.main

from scenarios.cli.app import app
from scenarios.cli.commands import SUMMARIES

COMMANDS = typer.main.get_command(app).commands
ORDER = (
    *("doctor", "init", "underlay", "fit-window", "design", "explain", "simulate", "validate", "sweep"),
    *("upgrade", "study", "partition", "calibrate"),
    *("run", "show", "plot", "timeline", "report", "replay", "export"),
    *("import-metrics", "tables", "demo"),
)


def test_commands_are_listed_in_the_order_of_use_with_whole_summaries(silosim):
    result = silosim("--help").ok()
    lines = result.out.splitlines()
    listed = [line.split()[0] for line in lines if line[:2] == "  " and line.split()[0] in SUMMARIES]

    assert tuple(SUMMARIES) == ORDER
    assert tuple(listed[: len(ORDER)]) == ORDER
    assert max(map(len, lines)) <= 80
    for name, summary in SUMMARIES.items():
        assert [line for line in lines if line.split() == [name, *summary.split()]]


@pytest.mark.parametrize("name", ORDER)
def test_a_help_page_has_the_summary_sections_and_an_example(silosim, name):
    result = silosim(name, "--help")
    lines = result.out.splitlines()
    heads = [line for line in lines if line and not line.startswith(" ")]

    assert result.code == 0
    assert lines[2] == f"  {SUMMARIES[name]}"
    assert heads[-2:] == ["Output:", "Examples:"]
    assert max(map(len, lines)) <= 80
    assert "{" not in result.out.replace("{silo}", "")
    assert "Options:" not in heads, "an option has no section: scenarios/cli/help.py"


@pytest.mark.parametrize("name", ORDER)
def test_the_example_of_a_command_can_be_parsed(name):
    command = COMMANDS[name]
    examples = command.examples.strip().splitlines()

    assert examples
    for example in examples:
        program, called, *arguments = shlex.split(example)
        assert (program, called) == ("silosim", name)
        assert command.make_context(name, arguments).params
    assert command.help == inspect.cleandoc(command.help)


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("design", "silosim design [OPTIONS] [NETWORK|SCENARIO]"),
        ("sweep", "silosim sweep [OPTIONS] [NETWORK|SCENARIO]"),
        ("validate", "silosim validate [OPTIONS] [NETWORK|SCENARIO]"),
        ("simulate", "silosim simulate [OPTIONS] [NETWORK|SCENARIO]"),
        ("partition", "silosim partition [OPTIONS] [NETWORK|SCENARIO]"),
        ("run", "silosim run [OPTIONS] SCENARIO"),
        ("show", "silosim show [OPTIONS] RUN"),
    ],
)
def test_the_usage_says_what_a_command_takes(silosim, name, usage):
    assert silosim(name, "--help").ok().out.splitlines()[0] == f"Usage: {usage}"


def test_an_unknown_command_is_answered_with_a_near_one(silosim):
    result = silosim("simulat")

    assert (result.code, result.out) == (2, "")
    assert "No such command 'simulat'. Did you mean 'simulate'?" in result.err
