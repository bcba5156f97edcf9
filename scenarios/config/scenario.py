"""Scenarios: TOML files, checked key by key."""

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import pydantic

from scenarios.config.designer_options import check_option_kinds
from scenarios.config.error_context import in_table
from scenarios.config.kinds import all_kinds, check_kinds
from scenarios.config.network import NetworkConfig, WorkloadConfig, build_workload, with_preset_of
from scenarios.config.overlay_config import OverlayConfig, consensus_rule, distinct, entry_of
from scenarios.config.pydantic_errors import first_problem
from scenarios.config.recorded_tables import recorded_tables
from scenarios.config.seed import check_seed
from scenarios.config.simulation import (
    ComputeConfig,
    SimulationConfig,
    event_names,
    event_tables,
    gathered,
    known_keys,
)
from scenarios.config.text_file import read_utf8
from scenarios.config.training_files import training_beside
from topologies import Connectivity, InputError, Workload
from topologies.errors import Field, quoted, unknown_key
from topologies.input_limits import MOST_TOML_BYTES
from topologies.toml_text import parse_toml
from training import TrainingConfig, compressed_share, load_backend, message_bits
from training.tasks import CONSENSUS, task_notice, with_task

Config = TypeVar("Config")


DEFAULT_NAME = "scenario"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OverlaysConfig:
    """The ``[overlays]`` table: which overlays a scenario compares.

    Parameters
    ----------
    kinds : tuple of str
        Names of designers, of static or randomized overlays.
    consensus : str
        Rule of the mixing weights, one of `topologies.consensus.consensus_rules`, for static overlays without
        a hub; empty for the designers' own.
    options : mapping from kind to mapping
        Options of designers; in TOML the tables ``[overlays.<kind>]``.
    entries : tuple of OverlayConfig
        Overlays one by one, in place of `kinds` and `options`; in TOML the tables ``[[overlays]]``, or, where
        `consensus` is stated beside them, ``[[overlays.entries]]``.
    """

    kinds: tuple[str, ...] = ("star", "mst", "ring")
    consensus: str = ""
    options: Mapping[str, Mapping[str, Any]] = dataclasses.field(
        default_factory=dict, metadata={"key": "<kind>"}
    )
    entries: tuple[OverlayConfig, ...] = dataclasses.field(default=(), metadata={"key": "[[overlays]]"})

    def __post_init__(self) -> None:
        """Check the rules that hold whatever designers are installed."""
        if not self.kinds:
            raise InputError("must name an overlay.", field=Field("kinds", value=[]))
        if len(set(self.kinds)) < len(self.kinds):
            raise InputError("must not repeat a name.", field=Field("kinds", value=list(self.kinds)))
        if self.consensus:
            object.__setattr__(self, "consensus", consensus_rule(self.consensus))
        check_option_kinds(self.options, self.kinds)
        if self.entries:
            distinct(self.entries)

    @property
    def overlays(self) -> tuple[OverlayConfig, ...]:
        """All overlays: the entries, or where there are none the kinds with their options."""
        return self.entries or tuple(
            OverlayConfig(kind=kind, options=self.options.get(kind, {})) for kind in self.kinds
        )

    def check_designers(self) -> None:
        """Raise an `InputError` unless there is a designer for every kind, with the options that are given."""
        if not self.entries:
            check_kinds("kinds", self.kinds)
        for number, config in enumerate(self.overlays):
            try:
                config.check_designer()
            except InputError as error:
                raise (error.within(number) if self.entries else error) from None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ImportedConfig:
    """The ``[imported]`` table of a run whose training metrics come from another program.

    Parameters
    ----------
    file : str
        Where the metrics came from; it is not read again.
    target_accuracy : float, optional
        As in `TrainingConfig`.
    """

    file: str
    target_accuracy: float | None = None

    def __post_init__(self) -> None:
        """Check the target."""
        if self.target_accuracy is not None and not 0 < self.target_accuracy <= 1:
            raise InputError(
                "must be > 0 and <= 1.", field=Field("target_accuracy", value=self.target_accuracy)
            )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A whole study; the tables are optional except ``[network]``.

    Parameters
    ----------
    name : str
        Name of the study, in titles.
    seed : int
        Of everything random; below 2^63, as the file of a run holds it.
    network : NetworkConfig
    workload : WorkloadConfig
    overlays : OverlaysConfig
    simulation : SimulationConfig
    training : TrainingConfig, optional
        Without it nothing is trained. The table's key ``task`` names one of `training.tasks.TASKS`, whose settings
        hold where the table states none.
    imported : ImportedConfig, optional
        In the file of a run only, in place of `training`.
    """

    network: NetworkConfig
    name: str = DEFAULT_NAME
    seed: int = 0
    workload: WorkloadConfig = dataclasses.field(default_factory=WorkloadConfig)
    overlays: OverlaysConfig = dataclasses.field(default_factory=OverlaysConfig)
    simulation: SimulationConfig = dataclasses.field(default_factory=SimulationConfig)
    training: TrainingConfig | None = None
    imported: ImportedConfig | None = None

    @property
    def target_accuracy(self) -> float | None:
        """The target of the training or of the imported one, if there is any."""
        config = self.training or self.imported
        return None if config is None else config.target_accuracy

    def simulated_by(self, engine: str | None) -> Self:
        """The same scenario with another engine of its simulation; None: as it is."""
        if engine is None:
            return self
        return dataclasses.replace(self, simulation=dataclasses.replace(self.simulation, engine=engine))

    def __post_init__(self) -> None:
        """Check the seed, and take the headers of the network's preset."""
        check_seed(self.seed)
        object.__setattr__(self, "workload", with_preset_of(self.network, self.workload))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedScenario:
    """What the tables and figures of a run say of its scenario.

    Attributes
    ----------
    name : str
    target_accuracy : float or None
    trained_rounds : int or None
        None where nothing was trained.
    is_imported : bool
        Whether the metrics come from another program.
    events : tuple of str
        Names of the tables of events in its simulation.
    trained : str
        Model, data and partition in words, or another backend; empty where nothing was trained.
    compression : str
        How messages are compressed, in words; empty where they are not.
    """

    name: str
    target_accuracy: float | None
    trained_rounds: int | None
    is_imported: bool
    events: tuple[str, ...] = ()
    trained: str = ""
    compression: str = ""


def recorded_scenario(text: str) -> RecordedScenario:
    """Read what a run's tables and figures need from its scenario's text, whatever is installed here.

    Parameters
    ----------
    text : str
        The scenario of a run, which was checked when the run was made. Designers, sharing models, events, data sets
        and models that it names may be those of packages on another machine.

    Returns
    -------
    RecordedScenario
    """
    tables = recorded_tables(text)
    training, imported = tables.get("training"), tables.get("imported")
    if training is not None:
        training = with_task(training, _network(tables))
    defaults = {field.name: field.default for field in dataclasses.fields(TrainingConfig)}
    name, events = tables.get("name", DEFAULT_NAME), event_names(tables.get("simulation", {}))
    if training is None:
        return RecordedScenario(
            name=name,
            target_accuracy=None if imported is None else imported.get("target_accuracy"),
            trained_rounds=None,
            is_imported=imported is not None,
            events=events,
        )
    stated: dict[str, Any] = defaults | training
    # Another backend may train something else than the model that the table names, or has by default.
    is_ours = stated["backend"] == defaults["backend"]
    return RecordedScenario(
        name=name,
        target_accuracy=stated["target_accuracy"],
        trained_rounds=stated["rounds"],
        is_imported=imported is not None,
        events=events,
        trained=f"model {stated['model']} on {stated['dataset']}, partition {stated['partition']}"
        if is_ours
        else f"by the backend {stated['backend']}",
        compression=_message_text(stated),
    )


def _message_text(training: Mapping[str, Any]) -> str:
    """How a training compresses its messages, with the keys that decide it; empty where it does not."""
    kind = training["compression"]
    if kind == "none":
        return ""
    keys = {
        "top_k": ["compression_ratio"],
        "random_k": ["compression_ratio"],
        "qsgd": ["quantization_levels"],
    }
    # A step of 0 is the compressor's own.
    keys_shown = [*keys.get(kind, ()), *(["consensus_step"] if training["consensus_step"] else [])]
    shown = ", ".join([training["compressed_gossip"], *(f"{key} {training[key]:g}" for key in keys_shown)])
    return f"{kind} ({shown})"


_TABLES: Mapping[str, type] = {
    "network": NetworkConfig,
    "workload": WorkloadConfig,
    "overlays": OverlaysConfig,
    "training": TrainingConfig,
    "imported": ImportedConfig,
}


def parse_scenario(text: str, *, source: str) -> Scenario:
    """Scenario of a TOML text.

    Parameters
    ----------
    text : str
    source : str
        The file, for error messages.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        If the text is no TOML, has an unknown key (the nearest known one is named) or a value that breaks a rule:
        one line with file, key, value and rule.
    """
    return scenario_of(read_toml(text, source), source=source)


def read_toml(text: str, source: str) -> dict[str, Any]:
    """Tables of a TOML text.

    Raises
    ------
    InputError
        As `parse_toml`.
    """
    return parse_toml(text, source=source)


def toml_text(path: Path) -> str:
    """Text of a TOML file.

    Raises
    ------
    InputError
        If it cannot be read, or is larger than `MOST_TOML_BYTES`.
    """
    return read_utf8(path, "not valid TOML", most_bytes=MOST_TOML_BYTES)


def scenario_of(tables: Mapping[str, Any], *, source: str | None, recorded: bool = False) -> Scenario:
    """Scenario of the tables of a TOML file, as `parse_scenario`.

    Those of a `recorded` run may name designers that are installed on another machine only.
    """
    check_keys("", tables, Scenario, source)
    for name, owner in _TABLES.items():
        if isinstance(tables.get(name), dict):
            also: Iterable[str] = ("task",) if owner is TrainingConfig else ()
            if owner is OverlaysConfig:
                also = tables[name] if recorded else ("entries", *all_kinds())
            check_keys(f"[{name}]", tables[name], owner, source, also=also)
    if isinstance(tables.get("overlays"), dict):
        tables = {**tables, "overlays": _gathered_options(tables["overlays"], source, recorded=recorded)}
    elif isinstance(tables.get("overlays"), list):
        tables = {**tables, "overlays": {"entries": _entries(tables["overlays"], source)}}
    if isinstance(tables.get("training"), dict):
        try:
            tables = with_task_stated(tables)
        except InputError as error:
            raise error.within("training").located(source) from None
    if isinstance(tables.get("simulation"), dict):
        tables = {**tables, "simulation": simulation_fields(tables["simulation"], source)}
    scenario = validated(Scenario, tables, source=source)
    if not recorded:
        try:
            scenario.overlays.check_designers()
        except InputError as error:
            raise error.within("overlays").located(source) from None
    return scenario


def simulation_fields(table: Mapping[str, Any], source: str | None) -> dict[str, Any]:
    """Fields of `SimulationConfig` of a table ``[simulation]``, whose keys are checked."""
    _check_known("[simulation]", table, known_keys(table), source)
    inner_tables: dict[str, type] = {"compute": ComputeConfig, **event_tables(table)}
    for name, inside in inner_tables.items():
        inner = table.get(name)
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, dict):
                check_keys(f"[simulation.{name}]", one, inside, source)
    return gathered(table)


def with_task_stated(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario that trains, with the settings that its training's task stands for."""
    training = tables["training"]
    completed = {**tables, "training": with_task(training, _network(tables))}
    overlays = tables.get("overlays", {})
    if training.get("task") in CONSENSUS and isinstance(overlays, dict):
        completed["overlays"] = {"consensus": CONSENSUS[training["task"]], **overlays}
    return completed


def _entries(entries: Sequence[Any], source: str | None) -> list[Any]:
    """The tables of overlays one by one."""
    if not entries:
        raise InputError("must name an overlay.", field=Field("overlays", value=[]), source=source)
    return [entry_of(entry) if isinstance(entry, dict) else entry for entry in entries]


def _gathered_options(overlays: Mapping[str, Any], source: str | None, *, recorded: bool) -> dict[str, Any]:
    """The ``[overlays]`` table with the tables of designers' options in one, and those of overlays read."""
    if isinstance(overlays.get("entries"), list):
        beside = next((key for key in overlays if key not in ("entries", "consensus")), None)
        if beside is not None:
            raise InputError(
                "goes without [[overlays.entries]], which name kinds and options one by one.",
                field=Field("overlays", beside),
                source=source,
            )
        return {**overlays, "entries": _entries(overlays["entries"], source)}
    options = {key: value for key, value in overlays.items() if _is_designer(key, recorded)}
    for kind, given in options.items():
        if not isinstance(given, dict):
            raise InputError(f"overlays.{kind}(={quoted(given)}) must be a table of options.", source=source)
    own = {key: value for key, value in overlays.items() if key not in options}
    return {**own, "options": options} if options else own


def _is_designer(key: str, recorded: bool) -> bool:
    """Whether a key of ``[overlays]`` names a designer; in the scenario of a run it may be one of another machine."""
    own = {field.name for field in dataclasses.fields(OverlaysConfig)}
    return key not in own and (recorded or key in all_kinds())


def _network(tables: Mapping[str, Any]) -> str:
    """The underlay that a scenario's tables name, or nothing."""
    network = tables.get("network")
    return str(network.get("underlay") or "") if isinstance(network, dict) else ""


def task_line(text: str) -> str:
    """Notice of what the task of a valid scenario derives from its network (`training.tasks.task_notice`)."""
    tables = recorded_tables(text)
    return task_notice(tables.get("training", {}), _network(tables))


def validated(owner: type[Config], values: Mapping[str, object], *, source: str | None = None) -> Config:
    """Make a dataclass of plain values, with the types of all checked.

    Parameters
    ----------
    owner : type
        The dataclass.
    values : mapping
        Its fields, with mappings and lists for nested dataclasses and tuples.
    source : str, optional
        The file, for error messages.

    Raises
    ------
    InputError
        If a value has the wrong type or breaks a rule.
    """
    hashable: Any = owner
    try:
        # Strict JSON mode takes TOML's lists for tuples, but no text for a number and no number for a text.
        return cast(Config, _adapter(hashable).validate_json(json.dumps(values, default=str), strict=True))
    except pydantic.ValidationError as error:
        raise first_problem(error).located(source) from None


@functools.cache
def _adapter(owner: type[Any]) -> pydantic.TypeAdapter[Any]:
    """Checks of a dataclass: made once, since a study checks thousands of scenarios."""
    return pydantic.TypeAdapter(owner)


def workload_of(scenario: Scenario, graph: Connectivity) -> Workload:
    """Workload of a scenario: as stated, otherwise with messages of the size that its training sends.

    Where the training compresses its messages, a stated size is that of the model, and messages have the same share of
    it as of the model that is trained.

    Parameters
    ----------
    scenario : Scenario
    graph : Connectivity
        Its network.

    Returns
    -------
    Workload

    Raises
    ------
    InputError
        If the scenario states no message size and its training, if any, does not either; or if no computing time is
        stated.
    """
    stated, training, bits = scenario.workload, scenario.training, None
    if training is not None and stated.preset is None and stated.model_size is None:
        with in_table("training", TrainingConfig):
            bits = message_bits(training)
        if bits is None:
            raise InputError(
                "workload.model_size must be given, for instance '45 MB': "
                f"training.backend(={training.backend!r}) does not say how large its messages are."
            )
    work = build_workload(stated, scenario.network.variant, bits, graph=graph)
    if training is None or training.compression == "none":
        return work
    with in_table("training", TrainingConfig):
        share = compressed_share(training, bits)
    sent_bits = work.model_bits if bits is not None else work.model_bits * share
    return dataclasses.replace(work, model_bits=sent_bits, message_share=share)


def load_scenario(path: Path) -> tuple[Scenario, str]:
    """Scenario of a TOML file, and the file's text.

    Raises
    ------
    InputError
        If the file cannot be read, names an unknown training backend, or as in `parse_scenario`.
    """
    text = toml_text(path)
    scenario = beside(path.parent, parse_scenario(text, source=str(path)))
    if scenario.imported is not None:
        raise InputError(
            "imported goes with the file of a run, which silosim import-metrics makes.", source=str(path)
        )
    if scenario.training is not None:
        # Not in `parse_scenario`, which also reads the scenarios of runs: another machine's backend may have made them.
        try:
            load_backend(scenario.training.backend, scenario.training.backend_options)
        except InputError as error:
            raise error.within("training").located(str(path)) from None
    return scenario, text


def beside(folder: Path, scenario: Scenario) -> Scenario:
    """The scenario with its files found beside it, where they are no paths from the working directory."""
    network, simulation = scenario.network.beside(folder), scenario.simulation.beside(folder)
    training = None if scenario.training is None else training_beside(folder, scenario.training)
    found = dataclasses.replace(scenario, network=network, simulation=simulation, training=training)
    if found.overlays.entries:
        entries = tuple(entry.beside(folder) for entry in found.overlays.entries)
        found = dataclasses.replace(found, overlays=dataclasses.replace(found.overlays, entries=entries))
    return found


def preset_names() -> list[str]:
    """Names of all scenarios and studies that come with the package."""
    files = resources.files("scenarios").joinpath("presets").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def preset_text(name: str) -> str:
    """TOML text of a scenario that comes with the package."""
    return resources.files("scenarios").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")


def check_keys(
    heading: str, table: Mapping[str, Any], owner: type, source: str | None, *, also: Iterable[str] = ()
) -> None:
    """Raise an error for a key that the owner's dataclass does not have; a field with another key is not one."""
    fields = [field.name.rstrip("_") for field in dataclasses.fields(owner) if not field.metadata]
    _check_known(heading, table, [*fields, *also], source)


def _check_known(heading: str, table: Mapping[str, Any], known: Sequence[str], source: str | None) -> None:
    """Raise an error for a key that is none of the known ones."""
    for key in table:
        if key not in known:
            raise unknown_key(heading, key, known, source=source)
