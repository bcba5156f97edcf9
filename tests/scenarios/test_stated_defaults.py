"""What is stated as the default of an option is that of a scenario's key, and a command acts as if it were given."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import pytest
import typer.main
from pair_run import write_pair_run

from scenarios import api
from scenarios.cli.app import app
from scenarios.config.network import NetworkConfig, WorkloadConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import Scenario
from scenarios.config.simulation import SimulationConfig
from training import TrainingConfig

pytestmark = pytest.mark.usefixtures("compiled_simulations")

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands


def stated(option):
    """The default that the help of an option states, or that Click adds to it; None where there is none."""
    found = re.search(r"\[default: ([^\]]+)\]", option.help or "")
    if found:
        return found[1]
    return None if option.default is None or option.is_flag or option.multiple else str(option.default)


DEFAULTS = {
    name: {
        option.name: (max(option.opts, key=len), stated(option))
        for option in command.params
        if option.param_type_name == "option" and stated(option) is not None
    }
    for name, command in COMMANDS.items()
}
VALUES = {
    "what the network's table of sites states, 10 Gbps elsewhere": ["10 Gbps"],
    "that of --access": ["10 Gbps"],
    "as stated, 1 Gbps elsewhere": ["stated"],
    "star, mst, delta_mbst, ring; the scenario's": ["star", "mst", "delta_mbst", "ring"],
    "ring, or the only one of the scenario": ["ring"],
    "the scenario's, or 1000, and 25 per silo where that is more; at most 100000 with --until-ci": ["1000"],
    "the scenario's, or 2000, 1000 of randomized overlays, and 25 per silo where that is more; at most 20000 with "
    "--until-ci": ["2000"],
    "the first 6": ["0-5"],
}
"""On a network that states no capacities, of fewer than 40 silos."""
NO_VALUE = (
    "0 if the file has it, else 1 if it has that of the last silo",
    "1 where steps or epochs are seen to begin so, else 0",
    "8.4in to 13in, by the silos",
    "90 in Europe, else 0",
    "RUN-export",
    "RUN-replay.h5",
    "STUDY.csv",
    "a usual name, if there",
    "a usual name, if there; else all weigh the same",
    "a usual name, such as round or step",
    "after it",
    "all",
    "all by --routing",
    "all that the run has",
    "as its name says, where that is clear",
    "as many as an interval needs, or a second or two",
    "each link costs 1",
    "logarithmic where values span more than a decade",
    "no limit",
    "nothing",
    "one for each processor",
    "one route a pair",
    "one silo on each",
    "out",
    "silo_loss/{silo}, if there",
    "simulated_s, else paper_s",
    "sweep-NETWORK",
    "that of the paper's task with these data, else cnn",
    "the file's name with .png",
    "the first with numbers that the study varies",
    "the run's",
    "the source's name with .html",
    "what else varies, if that is one key",
)
"""Texts that say what an absent option means."""


def values(text):
    """The values that a stated default names; none where it says what an absent option means."""
    if text in VALUES:
        return VALUES[text]
    if text in NO_VALUE:
        return []
    found = re.fullmatch(r"(?:the scenario's, or )?([a-z]+_[a-z]+|[a-z]+|[\d.]+(?:in| ms)?)", text)
    assert found, f"add what {text!r} means"
    return [found[1]]


CALLS = {
    "design": ("gaia",),
    "explain": ("gaia",),
    "simulate": ("gaia", "--kind", "ring"),
    "validate": ("gaia", "--kind", "ring"),
    "sweep": ("gaia", "--access", "100 Mbps", "--kind", "ring", "--force"),
    "upgrade": ("gaia", "--budget", "1"),
    "partition": ("gaia",),
    "fit-window": ("clouds_aws",),
}
MEASURED = ("messages_per_s", "point")
"""Speeds, and what a study identifies a point by, which is how it is written."""


def found(printed):
    """What a command printed, without what differs from call to call."""
    read = json.loads(printed)
    rows = [{key: row[key] for key in row if key not in MEASURED} for row in read["rows"]]
    return read["caption"], rows, [note for note in read["notes"] if not note.startswith("Speed")]


def stating(command, *, without=()):
    """The options of a command with the values that are stated as their defaults."""
    given = {option: values(text) for option, text in DEFAULTS[command].values() if option not in without}
    return [word for option, several in given.items() for value in several for word in (option, value)]


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize("command", CALLS)
def test_a_command_acts_as_if_stated_defaults_were_given(silosim, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    call = (command, *CALLS[command], "--json")
    words = stating(command, without=(*call, "--width"))
    assert len(words) > 2
    assert found(silosim(*call).ok().out) == found(silosim(*call, *words).ok().out)


def test_a_new_scenario_is_that_of_stated_defaults(silosim, tmp_path):
    for folder, words in (("without", ()), ("stating", stating("init"))):
        (tmp_path / folder).mkdir()
        silosim("init", tmp_path / folder / "s.toml", *words).ok()
    assert "--network" in words
    texts = [(tmp_path / folder / "s.toml").read_text() for folder in ("without", "stating")]
    assert texts[0] == texts[1]


def test_a_timeline_shows_the_rounds_that_are_stated(silosim, tmp_path):
    run = write_pair_run(tmp_path / "run.h5")
    shown = silosim("timeline", run, "--json").ok().out
    assert shown == silosim("timeline", run, "--json", *stating("timeline", without=["--width"])).ok().out
    assert shown != silosim("timeline", run, "--json", "--rounds", "0-4").ok().out
    assert shown != silosim("timeline", run, "--json", "--rounds", "0-6").ok().out
    six = api.timeline(run, rounds=slice(0, 6))
    assert [table.rows for table in api.timeline(run)] == [table.rows for table in six]


def test_texts_with_a_meaning_of_their_own_are_stated():
    stated = {text for options in DEFAULTS.values() for _, text in options.values()}
    assert {*VALUES, *NO_VALUE} <= stated


# Keys of scenarios

KEYS = {
    field.name: field.default
    for table in (SimulationConfig, TrainingConfig, OverlayConfig, WorkloadConfig, NetworkConfig, Scenario)
    for field in dataclasses.fields(table)
}
CALLED = {"alpha": "dirichlet_alpha"}
OF_THE_COMMAND = {
    "rounds": "each command simulates as many as its table needs",
    "network": "a scenario must name one",
    "kind": "a scenario has no delta_mbst unless it is named",
    "preset": "a scenario must have a preset or state size and time",
}


def test_stated_defaults_are_those_of_a_scenario_s_keys():
    looked_at = set()
    for options in DEFAULTS.values():
        for name, (_, text) in options.items():
            key = CALLED.get(name, name)
            default = KEYS.get(key)
            if key in OF_THE_COMMAND or default in (None, "", dataclasses.MISSING) or not values(text):
                continue
            assert [type(default)(value) for value in values(text)] == [default], name
            looked_at.add(name)
    assert {
        "streams",
        "local_steps",
        "bandwidth",
        "sharing",
        "engine",
        "seed",
        "alpha",
        "dataset",
    } <= looked_at


def test_values_of_options_are_those_of_a_scenario_s_keys():
    for command in COMMANDS.values():
        for option in command.params:
            if option.name in KEYS and option.name not in OF_THE_COMMAND and option.default is not None:
                assert option.default == KEYS[option.name], (command.name, option.name)


NUMBERS = re.compile(r"\d[\d,]*(?:\.\d+)?")


def test_figures_in_stated_defaults_are_those_of_the_reference_of_scenarios():
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    network = page[page.index("## `[network]`") : page.index("## `[overlays]`")]
    cells = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", network, flags=re.MULTILINE))
    looked_at = set()
    for options in DEFAULTS.values():
        for name, (_, text) in options.items():
            if name in cells and name != "preset":
                assert set(NUMBERS.findall(cells[name])) == set(NUMBERS.findall(text)), name
                looked_at.add(name)
    assert {"access", "core", "streams", "local_steps", "slow_start", "window"} <= looked_at


# Functions

FUNCTIONS = {
    "draw_underlay": "underlay",
    "validate": "validate",
    "sweep": "sweep",
    "upgrade": "upgrade",
    "import_metrics": "import-metrics",
    "plot_study": "plot",
    "timeline": "timeline",
}
OPTION = {"kinds": "kind"}
AS_NUMBERS = {"six": "6"}


def in_sentence(function):
    """What the docstring of a function says is the default of its parameters, by parameter."""
    parameters = inspect.getdoc(function).split("Returns\n")[0].split("Raises\n")[0]
    for names, text in re.findall(
        r"^(\w[^:\n]*) : [^\n]*((?:\n    [^\n]*)+)", parameters, flags=re.MULTILINE
    ):
        said = re.search(r"[Bb]y default (?:[^.;]|\.\d)*", " ".join(text.split()))
        if said:
            yield from ((name, said[0]) for name in names.split(", "))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_docstrings_state_the_defaults_of_the_command(function):
    options = DEFAULTS[FUNCTIONS[function]]
    sentences = dict(in_sentence(getattr(api, function)))
    looked_at = set()
    for name, said in sentences.items():
        option = OPTION.get(name, name)
        if option not in options or option == "kind":
            continue
        _, text = options[option]
        figures = [number.replace(",", "") for number in NUMBERS.findall(said)]
        figures += [number for word, number in AS_NUMBERS.items() if word in said]
        if NUMBERS.search(text):
            assert set(figures) <= set(NUMBERS.findall(text)), (name, said, text)
            looked_at |= {name} if figures else set()
        for value in re.findall(r'``"?([^`"]+)"?``', said):
            assert value in text, (name, said)
            looked_at.add(name)
    assert looked_at, "no default that both state"
