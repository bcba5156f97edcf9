"""Studies: a scenario and values that its keys take, as a grid or a list of points."""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from scenarios.config.error_context import located
from scenarios.config.label_shares import PARTITION_KEYS
from scenarios.config.published_figure import UNITS, PublishedFigure
from scenarios.config.replay_changes import (
    TARGET,
    check_keeps_learning,
    merged_tables,
    network_keys,
    with_target,
)
from scenarios.config.scenario import (
    Scenario,
    beside,
    check_keys,
    parse_scenario,
    preset_names,
    preset_text,
    read_toml,
    scenario_of,
    toml_text,
    validated,
)
from scenarios.config.toml import tables_text
from simulator.input_checks import ENGINES, check_choice
from topologies import InputError
from topologies.errors import Field, quoted, unknown_name
from topologies.input_limits import MOST_KEY_PARTS, MOST_POINTS
from topologies.quantities import parse_quantity
from topologies.regular_files import is_there
from training import TrainingConfig

KEY = "study"
_OUTER = ("network", "workload", "simulation")
_TABLES = (*_OUTER, "overlays", "training")
_BARE = re.compile(r"[\w-]+")
_PLACE = re.compile(r"\d{1,9}")
_TRAINED = ("training", "imported")
_TRAINING_KEYS = (
    *PARTITION_KEYS,
    *("model", "exchange_buffers", "backend", "backend_options"),
    *("compression", "compression_ratio", "quantization_levels"),
)
"""Keys of a training that a study varies without training: of the partition, whose labels an overlay may take, and of
the size of messages."""
ENGINE = ("simulation", "engine")
_NEEDS_SIMULATIONS = "goes with simulate = true, train = true or run in [study]."
_RESULTS = ("engine", "rounds")
"""Columns of results that settings of a simulation have the names of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureConfig:
    """The table ``[study.figure]``: columns that a figure shows, as ``silosim plot`` takes them.

    Parameters
    ----------
    x, y, facet : str, optional
    """

    x: str | None = None
    y: str | None = None
    facet: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyConfig:
    """The ``[study]`` table.

    Parameters
    ----------
    grid : mapping from key to list
        Values of keys of the scenario, such as ``"network.access"``; a point for each combination.
    points : list of mapping from key to value
        Points one by one, in place of a grid; with one, each of them is combined with all of the grid.
    simulate : bool
        Whether every point is simulated, beside the closed forms, with the scenario's ``[simulation]``.
    figure : FigureConfig, optional
        A figure that is drawn of the table, beside it.
    published : tuple of PublishedFigure
        Figures of a publication that the table is compared with.
    train : bool
        Whether every point is trained, by the scenario's ``[training]``: a run for each, whose file is beside the
        table.
    run : str, optional
        File of a run. The scenario is then the run's, the study's tables change it, and every point is a replay of the
        run's overlays, which is simulated.
    target_accuracy : float, optional
        With `run`: test accuracy that times are to; by default the run's.
    """

    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    points: list[Mapping[str, Any]] = field(default_factory=list)
    simulate: bool = False
    train: bool = False
    figure: FigureConfig | None = None
    published: tuple[PublishedFigure, ...] = ()
    run: str | None = None
    target_accuracy: float | None = None

    def __post_init__(self) -> None:
        """Check what varies, and the run's path."""
        if self.run == "":
            raise InputError("must not be empty.", field=Field(KEY, "run", value=""))
        if self.train and self.run is not None:
            raise InputError("must not be given with run.", field=Field(KEY, "train", value=True))
        if self.target_accuracy is not None and self.run is None:
            raise InputError(
                "goes with run, the file of a run that is replayed.",
                field=Field(KEY, TARGET, value=self.target_accuracy),
            )
        for keys in (self.grid, *self.points):
            paths = set[tuple[str | int, ...]]()
            for key in keys:
                path = split_key(key)
                if not path:
                    raise InputError("must be a key such as network.access.", field=Field(KEY, value=key))
                if path in paths:
                    raise _written_twice(key)
                paths.add(path)
        for key, values in self.grid.items():
            if not values:
                raise InputError("must have a value.", field=Field(KEY, "grid", key, value=values))
            unique = {json.dumps(value, sort_keys=True, default=str) for value in values}
            if len(unique) < len(values):
                raise InputError("must not repeat a value.", field=Field(KEY, "grid", key, value=values))
        for number, point in enumerate(self.points):
            if not point:
                raise InputError("must set a key.", field=Field(KEY, "points", number, value=point))
            for key in point:
                if key in self.grid:
                    raise InputError("must not be in the grid, too.", field=Field(KEY, "points", number, key))

    @property
    def simulates(self) -> bool:
        """Whether points are simulated, alone or as runs and replays."""
        return self.simulate or self.train or self.run is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that vary, those of the grid first."""
        return tuple(dict.fromkeys((*self.grid, *(key for point in self.points for key in point))))

    @property
    def size(self) -> int:
        """Number of points."""
        count = max(1, len(self.points))
        for values in self.grid.values():
            count *= len(values)
        return count

    def values(self, key: str) -> list[Any]:
        """All values that a key takes."""
        return [*self.grid.get(key, ()), *(point[key] for point in self.points if key in point)]

    def changes(self) -> Iterator[dict[str, Any]]:
        """Values of the keys of each point, the last key of the grid fastest."""
        combined = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        for point in self.points or [{}]:
            for values in combined:
                yield {**point, **values}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Study:
    """A study, whose points are checked as they are made.

    Attributes
    ----------
    base : mapping
        Tables of the scenario.
    config : StudyConfig
    folder : Path
        Where its files are.
    source : str
        The file, for messages.
    engine : str, optional
        Of all simulations, whatever the scenario says.
    """

    base: Mapping[str, Any]
    config: StudyConfig
    folder: Path
    source: str
    engine: str | None = None

    @property
    def run(self) -> Path | None:
        """The file of the run that its points replay."""
        return None if self.config.run is None else self.folder / self.config.run

    def replayed(self, changes: Mapping[str, Any], recorded: Mapping[str, Any]) -> Scenario:
        """The scenario of a point that replays a run.

        Parameters
        ----------
        changes : mapping
            Values of the keys that vary.
        recorded : mapping
            Tables of the run's scenario.

        Raises
        ------
        InputError
            If a key does not exist or would alter the learning, or its value breaks a rule.
        """
        single = _single_keys(changes)
        with located(self.source):
            for key, value in single.items():
                check_keeps_learning(split_key(key), value)
            tables = merged_tables(recorded, self._replay_tables, varied=[*map(split_key, single)])
            for key, value in single.items():
                tables = _changed(tables, split_key(key), value, key)
            tables = with_target(self._simulated(tables))
        return beside(self.folder, scenario_of(tables, source=self.source, recorded=True))

    def network_keys(self, changes: Mapping[str, Any]) -> frozenset[str]:
        """Keys of ``[network]`` that a point of replays states anew."""
        return network_keys(self.base, [*map(split_key, _single_keys(changes))])

    @property
    def _replay_tables(self) -> dict[str, Any]:
        """The tables that change those of a run."""
        target = self.config.target_accuracy
        return {**self.base} if target is None else {**self.base, TARGET: target}

    def scenario(self, changes: Mapping[str, Any]) -> Scenario:
        """The scenario of a point.

        Raises
        ------
        InputError
            If a key does not exist, or its value breaks a rule.
        """
        return beside(self.folder, scenario_of(self._tables(changes), source=self.source))

    def simulated_by(self, engine: str | None) -> Self:
        """The same study with another engine of its simulations; None: as it is.

        Raises
        ------
        InputError
            If there is no such engine, the study simulates nothing, or its engine is what varies.
        """
        if engine is None:
            return self
        check_choice("engine", engine, ENGINES)
        config, field = self.config, Field("engine", value=engine)
        if not config.simulates:
            raise InputError(_NEEDS_SIMULATIONS, field=field, source=self.source)
        for key in config.keys:
            path = split_key(key)
            wholes = config.values(key) if path == ENGINE[:1] else []
            if path == ENGINE or any(isinstance(each, Mapping) and ENGINE[1] in each for each in wholes):
                raise InputError(
                    "must not be given where [study] varies it.", field=field, source=self.source
                )
        return replace(self, engine=engine)

    def text(self, changes: Mapping[str, Any]) -> str:
        """The scenario of a point as TOML."""
        return tables_text(self._tables(changes))

    def _tables(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tables of a point."""
        tables = self.base
        with located(self.source):
            for key, value in changes.items():
                tables = _changed(tables, split_key(key), value, key)
            tables = self._simulated(tables)
        return _without_idle(tables, {split_key(key) for key in changes})

    def _simulated(self, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tables with the study's own engine, where it has one."""
        if self.engine is None:
            return tables
        return _changed(tables, ENGINE, self.engine, ".".join(ENGINE))


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyText:
    """The text of a study.

    Attributes
    ----------
    text : str
    source : str
        Its file or preset, for messages.
    folder : Path
        Where its files are.
    name : str
        Of the files to write, without an ending.
    """

    text: str
    source: str
    folder: Path
    name: str

    @property
    def trains(self) -> bool:
        """Whether it trains its scenario once, in place of a grid."""
        tables = read_toml(self.text, self.source)
        own = tables.get(KEY)
        return "training" in tables and not (isinstance(own, dict) and {"run", "grid", "points"} & own.keys())


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainedStudy:
    """A scenario that is trained, and published figures that its run is compared with.

    Attributes
    ----------
    scenario : Scenario
    text : str
        The scenario's own, without ``[study]``.
    config : StudyConfig
        Without a grid.
    """

    scenario: Scenario
    text: str
    config: StudyConfig


def study_presets() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(name for name in preset_names() if name.startswith("paper-"))


def find_study(name: Path) -> StudyText:
    """Text of a file, or of a study that comes with the package.

    Raises
    ------
    InputError
        If there is neither.
    """
    if not is_there(name) and str(name) in study_presets():
        return StudyText(text=preset_text(str(name)), source=str(name), folder=Path(), name=str(name))
    if not name.suffix and not is_there(name):
        raise unknown_name("study", str(name), [*study_presets(), "FILE.toml"])
    return StudyText(text=toml_text(name), source=str(name), folder=name.parent, name=name.stem)


def load_study(path: Path) -> Study:
    """Read a study, a file or a preset.

    Raises
    ------
    InputError
        If the file cannot be read or is no study.
    """
    found = find_study(path)
    return parse_study(found.text, source=found.source, folder=found.folder)


def parse_trained(found: StudyText) -> TrainedStudy:
    """The scenario of a study that trains.

    Raises
    ------
    InputError
        If it is wrong, varies keys, or has other tables after ``[study]``.
    """
    cut = re.search(r"^[ \t]*\[\[?[ \t]*study\b", found.text, flags=re.MULTILINE)
    text = found.text if cut is None else found.text[: cut.start()]
    tables = read_toml(found.text, found.source)
    config = _study_config(tables.pop(KEY, {}), found.source)
    if config.grid or config.points or config.simulate or config.train or config.figure is not None:
        raise InputError(
            "a study with [training] is trained once, so it has no grid, points, simulate, train or figure.",
            source=found.source,
        )
    if read_toml(text, found.source) != tables:
        raise InputError("[study] must come after all other tables.", source=found.source)
    return TrainedStudy(
        scenario=beside(found.folder, parse_scenario(text, source=found.source)), text=text, config=config
    )


def parse_study(text: str, *, source: str, folder: Path) -> Study:
    """Study of a TOML text."""
    tables = read_toml(text, source)
    own = tables.pop(KEY, None)
    if own is None:
        raise InputError("needs a table [study] with a grid or points.", source=source)
    config = _study_config(own, source)
    if not config.grid and not config.points:
        raise InputError("must have a grid or points.", field=Field(KEY), source=source)
    if config.size > MOST_POINTS:
        raise InputError(
            f"must be <= {MOST_POINTS} points, is {config.size}.", field=Field("study.grid"), source=source
        )
    for key in config.keys:
        _check_varies(key, config, source)
    return Study(base=tables, config=config, folder=folder, source=source)


def _check_varies(key: str, config: StudyConfig, source: str) -> None:
    """Raise an `InputError` for a key that changes nothing that a study computes."""
    first = split_key(key)[0]
    place = Field(KEY, "grid" if key in config.grid else "points", key)
    if first == "simulation" and not config.simulates:
        raise InputError(_NEEDS_SIMULATIONS, field=place, source=source)
    is_used = first == "training" and split_key(key)[1:2] and split_key(key)[1] in _TRAINING_KEYS
    is_trained = first == "training" and config.train
    if first == "name" or (first in _TRAINED and not (is_used or is_trained) and config.run is None):
        raise InputError("changes nothing that a study computes.", field=place, source=source)


def _study_config(own: Any, source: str) -> StudyConfig:
    """The ``[study]`` table, checked."""
    if isinstance(own, dict):
        _check_own_keys(own, source)
    try:
        return validated(StudyConfig, _with_whole_keys(own) if isinstance(own, dict) else own)
    except InputError as error:
        shown = error if error.path[:1] == (KEY,) else error.within(KEY)
        raise shown.located(source) from None


def _with_whole_keys(own: Mapping[str, Any]) -> dict[str, Any]:
    """The table with keys that were written without quotes, which TOML takes for tables in tables, as with them."""
    whole = dict(own)
    if isinstance(own.get("grid"), dict):
        whole["grid"] = _joined_keys(own["grid"])
    if isinstance(own.get("points"), list):
        whole["points"] = [
            _joined_keys(point) if isinstance(point, dict) else point for point in own["points"]
        ]
    return whole


def _joined_keys(table: Mapping[str, Any], outer: str = "") -> dict[str, Any]:
    """Keys joined by dots; a table is a value only where its own key was written with dots in quotes."""
    joined: dict[str, Any] = {}
    for key, value in table.items():
        part = key if not outer or _BARE.fullmatch(key) else f'"{key}"'
        name = f"{outer}.{part}" if outer else part
        is_table = isinstance(value, dict) and value and (outer or key in _TABLES)
        found = _joined_keys(value, name) if is_table else {name: value}
        if twice := joined.keys() & found.keys():
            raise _written_twice(min(twice))
        joined |= found
    return joined


def _written_twice(key: str) -> InputError:
    """Error for a key that is there in two spellings."""
    return InputError("must be written once, with or without quotes.", field=Field(KEY, value=key))


def _check_own_keys(own: Mapping[str, Any], source: str) -> None:
    """Raise an error for an unknown key of the ``[study]`` table and those inside it."""
    check_keys("[study]", own, StudyConfig, source)
    if isinstance(own.get("figure"), dict):
        check_keys("[study.figure]", own["figure"], FigureConfig, source)
    published = own.get("published")
    for table in published if isinstance(published, list) else ():
        if isinstance(table, dict):
            check_keys("[[study.published]]", table, PublishedFigure, source)


def split_key(key: str) -> tuple[str | int, ...]:
    """Parts of a key such as ``network.access_at."St. Gallen"`` or ``overlays.0.budget``."""
    parts: list[str | int] = []
    for quoted_part, plain in re.findall(r'"([^"]*)"|([^."]+)', key):
        parts.append(quoted_part or (int(plain) if _PLACE.fullmatch(plain) else plain))
    if len(parts) > MOST_KEY_PARTS:
        raise InputError(f"must have at most {MOST_KEY_PARTS} parts.", field=Field(KEY, value=key))
    return tuple(parts)


def _without_idle(tables: Mapping[str, Any], changed: Set[tuple[str | int, ...]]) -> Mapping[str, Any]:
    """The tables without settings of a training that are for other values of one that a point changes.

    So ``compression = "none"`` may stand in a grid beside compressors whose ratio is stated; what the point itself sets
    stays, and is an error.
    """
    training = tables.get("training")
    if not isinstance(training, dict):
        return tables
    idle = {
        name
        for key, value in training.items()
        if ("training", key) in changed
        for name in TrainingConfig.idle_keys(key, value)
        if ("training", name) not in changed
    }
    return {**tables, "training": {key: value for key, value in training.items() if key not in idle}}


def _single_keys(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with those of a whole table key by key, as others of its keys stay those of the run."""
    single: dict[str, Any] = {}
    for key, value in changes.items():
        if key in _OUTER and isinstance(value, Mapping):
            single |= {f'{key}."{name}"': inner for name, inner in value.items()}
        else:
            single[key] = value
    return single


def _changed(tables: Mapping[str, Any], path: Sequence[str | int], value: Any, key: str) -> dict[str, Any]:
    """A copy of nested tables in which one key has another value."""
    first, *rest = path
    inner = tables.get(first) if isinstance(first, str) else None
    if not rest:
        return {**tables, str(first): value}
    whole = split_key(key)
    name = ".".join(map(str, whole[: len(whole) - len(rest)]))
    if isinstance(inner, list):
        place = rest[0]
        if not isinstance(place, int) or not 0 <= place < len(inner) or not isinstance(inner[place], dict):
            count = {0: "is none", 1: "is one table"}.get(len(inner), f"are {len(inner)} tables")
            raise InputError(
                f"must name a table of [[{name}]] by its number from 0; there {count}.",
                field=Field(KEY, value=key),
            )
        entry = value if len(rest) == 1 else _changed(inner[place], rest[1:], value, key)
        return {**tables, str(first): [*inner[:place], entry, *inner[place + 1 :]]}
    if inner is not None and not isinstance(inner, dict):
        raise InputError(
            f"must be a key of a table, but {first} is {quoted(inner)}.",
            field=Field(KEY, value=key),
        )
    is_table = len(rest) > 1 or isinstance(value, Mapping)
    if isinstance(rest[0], int) and is_table and str(rest[0]) not in (inner or {}):
        raise InputError(
            f"must name a table by its number, but there is no table {rest[0]}: the scenario has no [[{name}]].",
            field=Field(KEY, value=key),
        )
    return {**tables, str(first): _changed(inner or {}, rest, value, key)}


def column_of(key: str, value: Any, ending: str | None = None) -> tuple[str, object]:
    """Name and value of a varied key in the table of a study, with the unit in the name.

    Parameters
    ----------
    key : str
    value : object
    ending : str, optional
        Of the name, see `shared_ending`; by default that of the value alone.

    Examples
    --------
    >>> column_of("network.access", "100 Mbps")
    ('access_bps', 100000000.0)
    >>> column_of("workload.local_steps", 5)
    ('local_steps', 5)
    """
    parts = [str(part) for part in split_key(key)]
    inner = parts[0] in _OUTER and len(parts) > 1 and parts[1] not in _RESULTS
    name = "_".join(parts[1:] if inner else parts)
    if isinstance(value, str):
        ending = shared_ending([value]) if ending is None else ending
        return (
            (f"{name}{ending}", parse_quantity(key, value, UNITS[ending], zero=True))
            if ending
            else (name, value)
        )
    if isinstance(value, int | float | bool):
        return name, value
    return name, json.dumps(value, ensure_ascii=False)


def shared_ending(values: Sequence[Any]) -> str:
    """Ending of a column for the unit that all values have; empty where one has none, such as ``"stated"``.

    Examples
    --------
    >>> shared_ending(["100 Mbps", "1 Gbps"]), shared_ending(["1 Gbps", "stated"])
    ('_bps', '')
    """
    return next(
        (ending for ending, unit in UNITS.items() if all(_is_quantity(value, unit) for value in values)), ""
    )


def _is_quantity(value: Any, unit: str) -> bool:
    """Whether a value is a text with a unit of this kind."""
    try:
        parse_quantity("", value, unit, zero=True)
    except InputError:
        return False
    return isinstance(value, str)


def identity(tables: object, files: Sequence[tuple[str, str]]) -> str:
    """Hash of all inputs of a point: its tables, and names and digests of the files that they name."""
    text = json.dumps([tables, files], sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
