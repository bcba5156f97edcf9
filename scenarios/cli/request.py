"""Input of a command: options or a scenario."""

import inspect
from pathlib import Path

import typer

from scenarios.cli.options import Study, study_options
from scenarios.simulation.case import Case, network_case, scenario_case
from topologies import InputError


def is_scenario(study: Study) -> bool:
    """Whether a command's first argument names a scenario file."""
    return study.underlay.endswith(".toml")


def case_of(study: Study, context: typer.Context, *, rounds: int) -> Case:
    """Case of a command: its scenario file's, or that of its options with so many rounds of the default overlays."""
    if is_scenario(study):
        path = Path(study.underlay)
        _refuse_study_options(path, context)
        return scenario_case(path)
    return network_case(study.network, study.work, rounds=rounds)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether a command's option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_study_options(path: Path, context: typer.Context) -> None:
    """Raise an error for an option of network or workload on the command line."""
    shared = inspect.signature(study_options).parameters.keys() - {"underlay"}
    for parameter in context.command.params:
        if parameter.name in shared and is_given(context, parameter.name or ""):
            raise InputError(
                f"{parameter.opts[0]} goes with the name of a network; change it in {path} instead."
            )
