"""Sharing models: how messages share the links of the network, found by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from numpy.typing import ArrayLike

from simulator.input_checks import check_choice, check_weights
from topologies.entry_points import all_names, find_entry, load_entry
from topologies.errors import Field, InputError

GROUP = "silosim.sharing"
"""Entry point group in which other packages register theirs."""

COMPILED = ("maxmin", "equal")
"""Rates that the compiled engine computes: max-min fair, with weights of arcs or without, and constant ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharingModel:
    """How messages share the links of the network.

    Parameters
    ----------
    name : str
        As commands and scenarios have it; that of its entry point, if it has one.
    network : callable
        Returns the network of a job for the SimPy engine, a `simulator.simpy_engine.network.Network`, given a
        `simulator.simpy_engine.network.NetworkSetup`.
    compiled : {"maxmin", "equal"}, optional
        The rates of the compiled engine that are those of the model. None: only SimPy simulates it.
    weights : callable, optional
        Weights with which `compiled` shares the links max-min fairly, of each arc of a `Job`, finite and > 0: the rates
        of messages that one link bounds are in proportion to them. None: all are equal.
    constant_rates : bool
        Whether a message leaves at `FlowArc.rate_bps`, whatever else is on the network. The job is then a max-plus
        linear system, whose cycle time follows from its recurrence.
    can_change : bool
        Whether `network` returns a `simulator.simpy_engine.network.ChangeableNetwork` where events change
        capacities, routes or traffic while the job runs; otherwise such events are an error.

    Raises
    ------
    InputError
        If `compiled` names no rates of the compiled engine, or does not go with `constant_rates` or `weights`.
    """

    name: str
    network: Callable[[Any], Any]
    compiled: str | None = None
    weights: Callable[[Any], ArrayLike] | None = None
    constant_rates: bool = False
    can_change: bool = False

    def __post_init__(self) -> None:
        if self.compiled is not None:
            check_choice("compiled", self.compiled, COMPILED)
            if (self.compiled == "equal") is not self.constant_rates:
                raise InputError(
                    f"constant_rates(={self.constant_rates}) must be {self.compiled == 'equal'} "
                    f"with compiled(={self.compiled!r})."
                )
        if self.weights is not None and self.compiled != "maxmin":
            raise InputError(f"weights must be None with compiled(={self.compiled!r}).")

    def __repr__(self) -> str:
        return f"SharingModel({self.name!r})"

    def arc_weights(self, job: Any) -> list[float]:
        """Weights of the arcs of a `Job` in the compiled engine.

        Raises
        ------
        InputError
            If `weights` does not give one finite number > 0 for each arc.
        """
        if self.weights is None:
            return [1.0] * len(job.arcs)
        return check_weights(f"weights of sharing {self.name!r}", self.weights(job), len(job.arcs))


SHARING: Mapping[str, EntryPoint] = {
    name: EntryPoint(name, f"simulator.simpy_engine.{where}", GROUP)
    for name, where in (
        ("maxmin", "max_min:MAX_MIN"),
        ("equal", "equal:EQUAL"),
        ("rtt_weighted", "rtt_weighted:RTT_WEIGHTED"),
    )
}
"""The models of this package, loaded when they are asked for: their networks need SimPy."""


def sharing_names() -> tuple[str, ...]:
    """Names of all models: those of this package, then those of other installed packages."""
    return all_names(SHARING, GROUP)


def check_sharing(name: str) -> None:
    """Accept the name of a model; otherwise an InputError lists those that there are. Loads no model."""
    if not isinstance(name, str) or name not in SHARING:
        check_choice("sharing", name, sharing_names())


def sharing_model(sharing: str | SharingModel) -> SharingModel:
    """Return the model of a name; a model is returned as it is.

    Parameters
    ----------
    sharing : str or SharingModel

    Raises
    ------
    InputError
        If there is no model of that name (the message lists those that there are), or the entry point of another
        package does not hold a model of that name, or two packages register one.
    MachineError
        If the model cannot be imported.
    """
    if isinstance(sharing, SharingModel):
        return sharing
    check_sharing(sharing)
    entry = find_entry(GROUP, sharing, "sharing model", own=SHARING.values())
    assert entry is not None  # Otherwise check_sharing has raised an error.
    model = load_entry(entry, "sharing model")
    if not isinstance(model, SharingModel) or model.name != sharing:
        raise InputError(
            f"sharing(={sharing!r}): {entry.value}, its entry point in {GROUP}, must be a SharingModel of that name."
        )
    return model


def check_can_change(model: SharingModel, where: str = "where the network changes") -> None:
    """Accept a model whose network can change while messages are under way; the error says `where` it must."""
    if not model.can_change:
        why = "constant rates do not follow changes" if model.constant_rates else "its network cannot change"
        rule = f"must be a model whose network can change, such as 'maxmin', {where}: {why}."
        raise InputError(rule, field=Field("sharing", value=model.name))
