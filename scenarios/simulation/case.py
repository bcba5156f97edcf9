"""Everything that a study of some overlays needs: network, workload, overlays, simulation and seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from scenarios.config.compute_times import compute_config, compute_times
from scenarios.config.error_texts import in_table, located
from scenarios.config.network import NetworkConfig, build_network, build_workload
from scenarios.config.overlays import DEFAULT_KINDS, check_kinds
from scenarios.config.scenario import Scenario, check_seed, load_scenario, validated
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import scenario_text
from scenarios.simulation.cycle_time import rounds_for_interval
from scenarios.simulation.runner import check_surroundings
from topologies import Connectivity, InputError, Workload
from training import message_bits


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Case:
    """Everything that a study of some overlays needs.

    Attributes
    ----------
    text : str
        A scenario's TOML text that says the same; empty without a `config`.
    config : NetworkConfig or None
        What the graph was built from; None of one that was built in Python.
    graph : Connectivity
    work : Workload
    kinds : sequence of str
    simulation : SimulationConfig
    seed : int
    source, compute_source : str, optional
        Where the simulation and its computing times come from, for error messages.
    """

    text: str
    config: NetworkConfig | None
    graph: Connectivity
    work: Workload
    kinds: Sequence[str]
    simulation: SimulationConfig
    seed: int
    source: str | None = None
    compute_source: str | None = None

    def __repr__(self) -> str:
        """One line."""
        return (
            f"Case({self.graph.underlay.name!r}, {self.graph.silos} silos, {self.work.name!r}, "
            f"kinds={list(self.kinds)}, rounds={self.simulation.rounds}, seed={self.seed})"
        )

    @property
    def network(self) -> NetworkConfig:
        """What the graph was built from, as files hold it.

        Raises
        ------
        InputError
            If it was built in Python.
        """
        if self.config is None:
            raise InputError(
                "a network that was built in Python cannot be written into a file; give a NetworkConfig."
            )
        return self.config

    def changed(self, *, kinds: Sequence[str], seed: int, simulation: SimulationConfig) -> Self:
        """The case with other overlays, seed and simulation, and a text that says so; seed and kinds are checked."""
        check_seed(seed)
        check_kinds("overlay kind", kinds)
        if (list(kinds), seed, simulation) == (list(self.kinds), self.seed, self.simulation):
            return self
        text = "" if self.config is None else scenario_text(self.config, self.work, kinds, simulation, seed)
        is_same = simulation.compute == self.simulation.compute
        return replace(
            self,
            text=text,
            kinds=kinds,
            seed=seed,
            simulation=simulation,
            compute_source=self.compute_source if is_same else None,
        )

    def with_settings(
        self,
        settings: Mapping[str, Any],
        *,
        kinds: Sequence[str] | None,
        seed: int | None,
        most_rounds: int,
        rounds: int | None = None,
        compute_times: str | None = None,
    ) -> Self:
        """The case with what a user asks for.

        Parameters
        ----------
        settings : mapping
            Fields of `SimulationConfig`; None for those that stay.
        kinds, seed, compute_times : optional
            None for those of the case.
        most_rounds : int
            Rounds where only the interval that ends the simulation is given.
        rounds : int, optional
            Rounds where neither is given, more where an interval of the cycle time takes more; by default the case's.
        compute_times : str, optional
            As `scenarios.config.compute_times.compute_config` takes it.

        Returns
        -------
        Case

        Raises
        ------
        InputError
            If a setting, a kind or the seed is wrong.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        if "until_ci" in given:
            given.setdefault("rounds", most_rounds)
        validated(SimulationConfig, given)
        if rounds is not None:
            given.setdefault("rounds", max(rounds, rounds_for_interval(self.graph.silos)))
        if compute_times is not None:
            given["compute"] = compute_config(compute_times)
        return self.changed(
            kinds=self.kinds if kinds is None else list(dict.fromkeys(kinds)),
            seed=self.seed if seed is None else seed,
            simulation=replace(self.simulation, **given),
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


def network_case(network: NetworkConfig, work: Workload, *, rounds: int) -> Case:
    """Case of a network and a workload, with so many rounds of the default overlays.

    Parameters
    ----------
    network : NetworkConfig
    work : Workload
        With the same computing time for all silos, as the case's text has it.
    rounds : int

    Returns
    -------
    Case

    Raises
    ------
    InputError
        If the network cannot be built, or the computing times differ.
    """
    if np.ptp(np.asarray(work.compute_s)) > 0:
        raise InputError("workload.compute_s must be the same for all silos, as a scenario has it.")
    case = graph_case(build_network(network), work, rounds=rounds)
    text = scenario_text(network, work, case.kinds, case.simulation, case.seed)
    return replace(case, text=text, config=network)


def graph_case(graph: Connectivity, work: Workload, *, rounds: int) -> Case:
    """Case of a network that was built in Python, with so many rounds of the default overlays.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    rounds : int

    Returns
    -------
    Case
        It cannot be written into a file.
    """
    return Case(
        text="",
        config=None,
        graph=graph,
        work=work,
        kinds=DEFAULT_KINDS,
        simulation=SimulationConfig(rounds=rounds),
        seed=0,
    )


def scenario_case(path: Path) -> Case:
    """Case of a scenario's file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Case

    Raises
    ------
    InputError
        If the file is wrong.
    """
    scenario, text = load_scenario(path)
    with located(str(path)):
        with in_table("network", NetworkConfig):
            graph = build_network(scenario.network)
        work = workload_of(scenario)
    return Case(
        text=text,
        config=scenario.network,
        graph=graph,
        work=work,
        kinds=scenario.overlays.kinds,
        simulation=scenario.simulation,
        seed=scenario.seed,
        source=str(path),
        compute_source=f"{path}: simulation.compute.trace",
    )


def workload_of(scenario: Scenario) -> Workload:
    """Workload of a scenario: what it states, and else messages of the size that its training sends.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Workload

    Raises
    ------
    InputError
        If the scenario states no size and trains nothing, or by a backend that does not say it; or the computing time
        is known from nowhere.
    """
    stated, training, bits = scenario.workload, scenario.training, None
    if training is not None and stated.preset is None and stated.model_size is None:
        bits = message_bits(training)
        if bits is None:
            raise InputError(
                "workload.model_size must be given, for instance '45 MB': "
                f"training.backend(={training.backend!r}) does not say how large its messages are."
            )
    return build_workload(stated, scenario.network.variant, bits)
