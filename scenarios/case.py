"""What a command is about: a network and workload from options, or a whole scenario file."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import typer

from scenarios.computing import compute_times
from scenarios.config import check_seed, load_scenario
from scenarios.designed import check_kinds
from scenarios.network import NetworkConfig, build_network
from scenarios.options import Study, study_options
from scenarios.simulation_config import SimulationConfig
from scenarios.studies.design import DEFAULT_KINDS
from scenarios.studies.run import workload_of
from scenarios.studies.simulation import check_surroundings
from scenarios.toml_text import scenario_text
from scenarios.toml_words import in_table, located
from topologies import Connectivity, InputError, Workload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Case:
    """Everything that a study of some overlays needs.

    Attributes
    ----------
    text : str
        A scenario's TOML text that says the same.
    network : NetworkConfig
    graph : Connectivity
    work : Workload
    kinds : sequence of str
    simulation : SimulationConfig
    seed : int
    source, compute_source : str, optional
        Where the simulation and its computing times come from, for error messages.
    """

    text: str
    network: NetworkConfig
    graph: Connectivity
    work: Workload
    kinds: Sequence[str]
    simulation: SimulationConfig
    seed: int
    source: str | None = None
    compute_source: str | None = None

    def changed(self, *, kinds: Sequence[str], seed: int, simulation: SimulationConfig) -> Self:
        """The case with other overlays, seed and simulation, and a text that says so; seed and kinds are checked."""
        check_seed(seed)
        check_kinds("overlay kind", kinds)
        if (list(kinds), seed, simulation) == (list(self.kinds), self.seed, self.simulation):
            return self
        text = scenario_text(self.network, self.work, kinds, simulation, seed)
        is_same = simulation.compute == self.simulation.compute
        return replace(
            self,
            text=text,
            kinds=kinds,
            seed=seed,
            simulation=simulation,
            compute_source=self.compute_source if is_same else None,
        )

    def check(self, *, rounds: int | None = None) -> None:
        """Accept the simulation, before there is an overlay.

        Parameters
        ----------
        rounds : int, optional
            Instead of the simulation's.

        Raises
        ------
        InputError
            If computing times, or what happens around the job, do not fit the network or the rounds.
        """
        rounds = rounds or self.simulation.rounds
        with located(self.compute_source):
            compute_times(self.simulation.compute, self.graph, self.work, seed=self.seed, rounds=rounds)
        with located(self.source):
            check_surroundings(self.simulation, self.graph, rounds=rounds)


def is_scenario(study: Study) -> bool:
    """Whether a command's first argument names a scenario file."""
    return study.underlay.endswith(".toml")


def case_of(study: Study, context: typer.Context, *, rounds: int) -> Case:
    """Case of a command: its scenario file's, or that of its options with so many rounds of the default overlays."""
    if is_scenario(study):
        return _scenario_case(Path(study.underlay), context)
    kinds, simulation = DEFAULT_KINDS, SimulationConfig(rounds=rounds)
    return Case(
        text=scenario_text(study.network, study.work, kinds, simulation, 0),
        network=study.network,
        graph=study.graph(),
        work=study.work,
        kinds=kinds,
        simulation=simulation,
        seed=0,
    )


def _scenario_case(path: Path, context: typer.Context) -> Case:
    """Case of a scenario file, whose options for network and workload must not be given besides.

    Parameters
    ----------
    path : Path
    context : typer.Context
        The command's.

    Returns
    -------
    Case

    Raises
    ------
    InputError
        If the file is wrong, or such an option is given.
    """
    _refuse_study_options(path, context)
    scenario, text = load_scenario(path)
    with located(str(path)):
        with in_table("network", NetworkConfig):
            graph = build_network(scenario.network)
        work = workload_of(scenario)
    return Case(
        text=text,
        network=scenario.network,
        graph=graph,
        work=work,
        kinds=scenario.overlays.kinds,
        simulation=scenario.simulation,
        seed=scenario.seed,
        source=str(path),
        compute_source=f"{path}: simulation.compute.trace",
    )


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
