"""An option that takes one value is given once; lists take all their values; flags are off until given."""

import json

import pytest
import typer.main

from scenarios.cli.app import app
from scenarios.cli.options import CAPACITY_AT, STREAMS_AT, by_silo, numbers_by_silo
from topologies import InputError

COMMANDS = typer.main.get_command(app).commands
OPTIONS = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option"
]
SINGLE = [
    (name, spelling)
    for name, option in OPTIONS
    if not option.multiple and not option.is_flag
    for spelling in option.opts
]
FIRST_SINGLE = dict(reversed(SINGLE))


def test_every_command_has_single_values_and_known_lists():
    lists = {(name, max(option.opts, key=len)) for name, option in OPTIONS if option.multiple}
    everywhere = {"--access-at", "--silo-at", "--blocked", "--window-at", "--streams-at", "--kind"}
    everywhere |= {"--half-duplex", "--shared-access", "--fat-pipe"}

    assert {name for name, _ in SINGLE} == set(COMMANDS) - {"doctor", "show"}
    assert {option for _, option in lists} == everywhere | {
        "--access",
        "--arcs",
        "--weights",
        "--compute-at",
        "--local-steps-at",
        "--network",
        "--only",
        "--output",
        "--overlay",
        "--schedule",
        "--tracker",
        "--where",
    }
    assert {name for name, option in lists if option == "--access"} == {"sweep", "replay"}
    assert {name for name, option in lists if option == "--output"} == {"simulate", "partition"}


def given_and_rule(command, spelling, values):
    """The words of an option that is given several times, and what is said of it."""
    (long,) = (max(o.opts, key=len) for name, o in OPTIONS if name == command and spelling in o.opts)
    words = [word for value in values for word in (spelling, value)]
    return words, f"{long} takes one value and must be given once, not {len(values)} times."


@pytest.mark.parametrize("command", FIRST_SINGLE)
def test_a_second_value_is_an_error_that_names_the_option(command):
    one = COMMANDS[command]  # which is made anew each time
    # Numbers and texts alike: the values themselves are not looked at.
    for values in (("1", "5"), ("1", "1"), ("1", "5", "7")):
        for spelling in (spelling for name, spelling in SINGLE if name == command):
            words, rule = given_and_rule(command, spelling, values)
            with pytest.raises(InputError) as caught:
                one.make_context(command, ["gaia", *words])
            assert str(caught.value) == rule


@pytest.mark.parametrize(("command", "spelling"), FIRST_SINGLE.items())
def test_a_second_value_is_one_line_and_nothing_is_done(silosim, command, spelling):
    words, rule = given_and_rule(command, spelling, ("1", "5"))
    result = silosim(command, "gaia", *words)

    assert result.code == 2
    assert result.out == ""
    assert result.err == f"silosim: error: {rule}\n"


def test_both_spellings_and_an_equals_sign_are_the_same_option(silosim, tmp_path):
    for given in (
        ("-o", tmp_path / "a", "--output", tmp_path / "b"),
        (f"--output={tmp_path / 'a'}", "-o", tmp_path / "b"),
        (f"-o{tmp_path / 'a'}", "-o", tmp_path / "b"),
    ):
        result = silosim("demo", *given)

        assert (result.code, result.err.count("--output takes one value")) == (2, 1)
    assert not list(tmp_path.iterdir())


def test_flags_may_be_repeated_and_lists_take_all(silosim):
    result = silosim("design", "gaia", "--kind", "ring", "--kind", "star", "--json", "--json")

    assert result.code == 0
    assert [row["overlay"] for row in json.loads(result.out)["rows"]] == ["ring", "star"]


def test_no_flag_holds_unless_it_is_given():
    flags = [(name, option) for name, option in OPTIONS if option.is_flag]

    assert len(flags) > 30
    assert [(name, option.name) for name, option in flags if option.default not in (None, False)] == []


def test_the_access_link_of_a_silo_is_given_once():
    assert by_silo("access_at", ["DE=1 Gbps up", "FR=2 Gbps"], CAPACITY_AT) == {
        "DE": "1 Gbps up",
        "FR": "2 Gbps",
    }
    with pytest.raises(InputError, match=r"access_at\(=' DE = 2 Gbps'\) must name each silo once"):
        by_silo("access_at", ["DE=1 Gbps", " DE = 2 Gbps"], CAPACITY_AT)


def test_numbers_of_streams_are_whole():
    assert numbers_by_silo("streams_at", None, STREAMS_AT) is None
    given = numbers_by_silo("streams_at", ["DE=4", "FR = 12"], STREAMS_AT)
    assert given == {"DE": 4, "FR": 12}
    # All numbers of so many digits have 64 bits.
    most = 10**18 - 1
    assert numbers_by_silo("streams_at", [f"DE={most}"], STREAMS_AT) == {"DE": most}
    for text in ("4.5", "-4", "four", "", str(most + 1)):
        with pytest.raises(InputError, match=rf"^streams_at.FR\(='{text}'\) must be a whole number\.$"):
            numbers_by_silo("streams_at", ["DE=4", f"FR={text}"], STREAMS_AT)
