"""Input of a command: options or a scenario."""

import inspect
from collections.abc import Collection
from pathlib import Path

import typer

from scenarios.cli.options import Study, study_options
from scenarios.simulation.experiment import Experiment, load_experiment, network_experiment
from topologies import InputError
from topologies.networks.network_files import is_network_file


def is_scenario(study: Study) -> bool:
    """Whether a command's first argument names a scenario file."""
    return study.underlay.endswith(".toml") and not is_network_file(study.underlay)


def experiment_of(
    study: Study, context: typer.Context, *, rounds: int, own: Collection[str] = ()
) -> Experiment:
    """Experiment of a scenario file, or of a command's options with so many rounds of the default overlays.

    Options that are the command's `own` go with a scenario although others of their names do not.
    """
    if is_scenario(study):
        path = Path(study.underlay)
        _refuse_study_options(path, context, own)
        return load_experiment(path)
    return network_experiment(study.network, study.workload, rounds=rounds)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_study_options(path: Path, context: typer.Context, own: Collection[str]) -> None:
    """Raise an error for an option of network or workload on the command line."""
    shared = inspect.signature(study_options).parameters.keys() - {"underlay", *own}
    for parameter in context.command.params:
        if parameter.name in shared and is_given(context, parameter.name or ""):
            raise InputError(
                f"{parameter.opts[0]} goes with the name of a network; change it in {path} instead."
            )
