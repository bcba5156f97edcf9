"""An experiment: network, workload, overlays, simulation and seed, from a scenario's file or from options."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from scenarios.config.compute_times import compute_config, compute_times
from scenarios.config.error_context import in_table, located
from scenarios.config.label_shares import PartitionLabels, partition_labels
from scenarios.config.network import NetworkConfig, WorkloadConfig, build_network, build_workload
from scenarios.config.overlay_config import OverlayConfig, default_overlays, left_out_note
from scenarios.config.overlays import AnyOverlay
from scenarios.config.scenario import load_scenario, validated, workload_of
from scenarios.config.seed import check_seed
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import scenario_text
from scenarios.runfile.writer import RunHead
from scenarios.runtime.progress import heartbeat
from scenarios.simulation.design_bar import design_with_bar
from scenarios.simulation.runner import check_events, job_of
from simulator import Job
from simulator.statistics.confidence import rounds_for_interval
from topologies import Connectivity, InputError, Workload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Experiment:
    """Input of a study of some overlays.

    Attributes
    ----------
    text : str
        TOML text of an equivalent scenario; empty without a `config`.
    config : NetworkConfig or None
        What the graph was built from; None for a graph that was built in Python.
    graph : Connectivity
    work : Workload
    overlays : sequence of OverlayConfig
    simulation : SimulationConfig
    seed : int
    consensus : str
        Rule of the mixing weights of those overlays that have none.
    left_out : sequence of str
        The note where the overlays are the default ones and the network does not have all of them.
    label_shares : PartitionLabels, optional
        Of the scenario's training, for designers that ask for them.
    source, compute_source : str, optional
        Where the simulation and its computing times come from, for error messages.
    """

    text: str
    config: NetworkConfig | None
    graph: Connectivity
    work: Workload
    overlays: Sequence[OverlayConfig]
    simulation: SimulationConfig
    seed: int
    consensus: str = ""
    left_out: Sequence[str] = ()
    label_shares: PartitionLabels | None = None
    source: str | None = None
    compute_source: str | None = None

    def __repr__(self) -> str:
        return (
            f"Experiment({self.graph.underlay.name!r}, {self.graph.silos} silos, {self.work.name!r}, "
            f"overlays={[config.name for config in self.overlays]}, rounds={self.simulation.rounds}, seed={self.seed})"
        )

    def naming(self, kinds: Sequence[str] | None) -> Self:
        """The experiment where a user names kinds: none of them is left out."""
        return replace(self, left_out=()) if kinds else self

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

    def changed(
        self,
        *,
        overlays: Sequence[OverlayConfig],
        seed: int,
        simulation: SimulationConfig,
    ) -> Self:
        """The experiment with other overlays, seed and simulation, which are checked, and the text for them."""
        check_seed(seed)
        if (list(overlays), seed, simulation) == (list(self.overlays), self.seed, self.simulation):
            return self
        shares = self.label_shares
        if shares is not None and shares.seed != seed:
            shares = replace(shares, seed=seed)
        text = ""
        if self.config is not None:
            text = scenario_text(
                self.config,
                self.work,
                overlays,
                simulation,
                seed,
                consensus=self.consensus,
                labels=self.graph.labels,
                training=None if shares is None else shares.training,
            )
        is_same = simulation.compute == self.simulation.compute
        return replace(
            self,
            text=text,
            overlays=overlays,
            seed=seed,
            simulation=simulation,
            label_shares=shares,
            compute_source=self.compute_source if is_same else None,
        )

    def with_settings(
        self,
        settings: Mapping[str, Any],
        *,
        overlays: Sequence[OverlayConfig] | None,
        seed: int | None,
        most_rounds: int,
        rounds: int | None = None,
        compute_times: str | None = None,
    ) -> Self:
        """The experiment with what a user asks for.

        Parameters
        ----------
        settings : mapping
            Fields of `SimulationConfig`; None for those that stay.
        overlays, seed, compute_times : optional
            None for those of the experiment.
        most_rounds : int
            Rounds where only the interval that ends the simulation is given.
        rounds : int, optional
            Rounds where neither is given, more where an interval of the cycle time takes more; by default the
            experiment's.
        compute_times : str, optional
            As `scenarios.config.compute_times.compute_config` takes it.

        Returns
        -------
        Experiment

        Raises
        ------
        InputError
            If a setting or the seed is wrong.
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
            overlays=self.overlays if overlays is None else overlays,
            seed=self.seed if seed is None else seed,
            simulation=replace(self.simulation, **given),
        )

    def head(self) -> RunHead:
        """Head of the file of a run of this experiment."""
        return RunHead(
            scenario=self.text, network=self.network, seed=self.seed, graph=self.graph, work=self.work
        )

    def design(self, config: OverlayConfig) -> AnyOverlay:
        """Design one of the overlays."""
        return design_with_bar(
            config,
            self.graph,
            self.work,
            seed=self.seed,
            consensus=self.consensus,
            label_shares=self.label_shares,
        )

    def simulations(self, overlays: Sequence[AnyOverlay] = ()) -> list[tuple[AnyOverlay, Job]]:
        """Design the overlays, and describe their simulations.

        Parameters
        ----------
        overlays : sequence of Overlay, PeriodicOverlay or RandomOverlay
            All of them, if they have been designed before.

        Returns
        -------
        list of (Overlay, PeriodicOverlay or RandomOverlay, Job)

        Raises
        ------
        InputError
            If an overlay cannot be designed or simulated.
        """
        overlays = overlays or [self.design(config) for config in self.overlays]
        rounds = self.simulation.rounds
        with self.named_errors():
            return [
                (overlay, job_of(overlay, self.simulation, rounds=rounds, seed=self.seed))
                for overlay in overlays
            ]

    def check(self, *, rounds: int | None = None) -> None:
        """Check the options and the simulation before any overlay is designed.

        Parameters
        ----------
        rounds : int, optional
            Instead of the simulation's.

        Raises
        ------
        InputError
            If an option of a designer is wrong, or computing times or events do not fit the network or the rounds.
        """
        for config in self.overlays:
            config.check_designer()
        rounds = rounds or self.simulation.rounds
        with located(self.compute_source):
            compute_times(self.simulation.compute, self.graph, self.work, seed=self.seed, rounds=rounds)
        with self.named_errors():
            check_events(self.simulation, self.graph, rounds=rounds)

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Within it, errors about the simulation name the scenario's file and table, if it comes from one."""
        if self.source is None:
            yield
        else:
            with located(self.source), in_table("simulation", SimulationConfig):
                yield


def network_experiment(network: NetworkConfig, work: Workload | WorkloadConfig, *, rounds: int) -> Experiment:
    """Experiment on a network and a workload, with so many rounds of the default overlays.

    Parameters
    ----------
    network : NetworkConfig
    work : Workload or WorkloadConfig
        Of the latter the computing times may be those that the network's file states.
    rounds : int

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        If the network cannot be built, or there is not one computing time for all silos or for each.
    """
    with heartbeat("network: routes of all pairs"):
        graph = build_network(network)
    if isinstance(work, WorkloadConfig):
        work = build_workload(work, network.variant, graph=graph)
    work.round_compute_s(graph.silos)  # checks their number
    experiment = graph_experiment(graph, work, rounds=rounds)
    text = scenario_text(
        network, work, experiment.overlays, experiment.simulation, experiment.seed, labels=graph.labels
    )
    return replace(experiment, text=text, config=network)


def graph_experiment(graph: Connectivity, work: Workload, *, rounds: int) -> Experiment:
    """Experiment on a network that was built in Python, with so many rounds of the default overlays.

    Parameters
    ----------
    graph : Connectivity
    work : Workload
    rounds : int

    Returns
    -------
    Experiment
        It cannot be written into a file.
    """
    return Experiment(
        text="",
        config=None,
        graph=graph,
        work=work,
        overlays=default_overlays(graph),
        left_out=left_out_note(graph),
        simulation=SimulationConfig(rounds=rounds),
        seed=0,
    )


def load_experiment(path: Path) -> Experiment:
    """Read the experiment of a scenario's file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        If the file is wrong.
    """
    scenario, text = load_scenario(path)
    with located(str(path)):
        with in_table("network", NetworkConfig), heartbeat("network: routes of all pairs"):
            graph = build_network(scenario.network)
        work = workload_of(scenario, graph)
    return Experiment(
        text=text,
        config=scenario.network,
        graph=graph,
        work=work,
        overlays=scenario.overlays.overlays,
        consensus=scenario.overlays.consensus,
        simulation=scenario.simulation,
        seed=scenario.seed,
        label_shares=partition_labels(graph, scenario.training, scenario.seed, str(path)),
        source=str(path),
        compute_source=f"{path}: simulation.compute.trace",
    )
