"""Defaults of the Python functions are those of the commands, and of a scenario."""

import inspect
from dataclasses import fields

import pytest
import typer

import silosim
from scenarios.cli.app import app
from scenarios.config.simulation import SimulationConfig
from simulator.designers.mixing_search import fewest_seconds_per_efold
from simulator.designers.periodic_search import fastest_periodic
from simulator.designers.simulated_search import fastest_simulated
from topologies import DESIGNERS, PERIODIC_DESIGNERS
from topologies.designers.options import seed_option

FUNCTIONS = {
    name: getattr(silosim, name)
    for name in silosim.__all__
    if inspect.isfunction(getattr(silosim, name)) and getattr(silosim, name).__module__ == "scenarios.api"
}
COMMANDS = {"plot_study": "plot", "run_seeds": "run", "replay_times": "replay", "draw_underlay": "underlay"}
SCENARIO = {field.name: field.default for field in fields(SimulationConfig)} | {"seed": 0}
OTHERS = {("open_run", "verify"): True, ("export", "format"): "csv", ("sweep", "workers"): 1}
"""Of functions that have no command, or an option of another form."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_default_is_that_of_the_command_or_of_a_scenario(name):
    commands = typer.main.get_command(app)
    command = commands.get_command(None, COMMANDS.get(name, name).replace("_", "-"))
    options = {} if command is None else {option.name: option.default for option in command.params}
    for key, parameter in inspect.signature(FUNCTIONS[name]).parameters.items():
        default = parameter.default
        if default is None:
            # What is absent in Python is not some value on the command line.
            assert options.get(key) is None, key
        if default is None or default is parameter.empty or default == ():
            continue
        expected = options.get(key)
        if expected is None:
            expected = OTHERS.get((name, key), False if isinstance(default, bool) else SCENARIO.get(key))
        assert default == expected, key
        assert type(default) is type(expected), key


def test_functions_of_commands_are_among_them():
    assert {"run", "replay", "sweep", "upgrade", "study", "import_metrics", "report"} <= FUNCTIONS.keys()


def test_designs_that_draw_do_so_with_the_seed_of_a_scenario():
    designers = [*DESIGNERS.values(), *PERIODIC_DESIGNERS.values()]
    drawing = [designer for designer in designers if seed_option(designer)]
    assert drawing
    for draw in (*drawing, fastest_simulated, fewest_seconds_per_efold, fastest_periodic):
        assert inspect.signature(draw).parameters["seed"].default == SCENARIO["seed"], draw
