"""The reference of scenario files has every key, in its own table, with its default."""

import dataclasses
import re
from contextlib import nullcontext

import pytest
from document_blocks import ROOT

from scenarios.config.designer_options import designer_options
from scenarios.config.events.event_kinds import BUILT_IN
from scenarios.config.network import NetworkConfig, WorkloadConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import OverlaysConfig, Scenario
from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.config.starter_scenario import _taken
from topologies import InputError
from topologies.designers.registry import DESIGNERS, PERIODIC_DESIGNERS, RANDOM_DESIGNERS
from training import TrainingConfig

TABLES = {
    "Top level": Scenario,
    "`[network]`": NetworkConfig,
    "`[workload]`": WorkloadConfig,
    "`[overlays]`": OverlaysConfig,
    "`[[overlays]]`": OverlayConfig,
    "`[simulation]`": SimulationConfig,
    "`[simulation.compute]`": ComputeConfig,
    "`[training]`": TrainingConfig,
    **{f"`[[simulation.{table}]]`": kind for table, kind in BUILT_IN.items()},
}
EVENTS, OPTIONS, ENTRIES, TASK = "events", "options", "entries", "task"


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, list[str]]]:
    """Cells after the key, by heading and key."""
    found: dict[str, dict[str, list[str]]] = {}
    heading = ""
    for line in (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8").splitlines():
        if title := re.fullmatch(r"##+ (.+)", line):
            heading = title[1]
        elif line.startswith("| `") and not line.startswith("| `["):
            first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(heading, {}).update(dict.fromkeys(re.findall(r"`([^`]+)`", first), cells))
    return found


@pytest.mark.parametrize("heading", TABLES)
def test_every_key_is_in_its_table(rows, heading):
    keys = {field.name.rstrip("_") for field in dataclasses.fields(TABLES[heading])}
    if heading == "`[simulation]`":
        keys = keys - {EVENTS} | set(BUILT_IN)
    if heading == "`[overlays]`":
        keys = keys - {OPTIONS, ENTRIES} | {"<kind>"}
    if heading == "`[[overlays]]`":
        keys = keys - {OPTIONS} | {"<option>"}
    if heading == "`[training]`":
        keys |= {TASK}

    assert set(rows[heading]) == keys


@pytest.mark.parametrize("heading", TABLES)
def test_stated_defaults_are_those_of_the_code(rows, heading):
    for field in dataclasses.fields(TABLES[heading]):
        if field.name in (EVENTS, OPTIONS, ENTRIES) or field.default == "":
            continue
        _, default, _ = rows[heading][field.name.rstrip("_")]
        has_default = (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
        assert (default == "required") == (not has_default) or heading == "Top level", field.name
        if isinstance(field.default, bool):
            assert default == str(field.default).lower(), field.name
        elif isinstance(field.default, int | float):
            assert float(default.split(",")[0]) == field.default, field.name
        elif isinstance(field.default, str):
            assert default.split(",")[0] == f'`"{field.default}"`', field.name


def test_every_option_of_a_designer_is_in_the_table_of_its_designer():
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    options = {
        (table, option)
        for tables, option in re.findall(r"^\| (`\[overlays\.[^|]+) \| `(\w+)` ", page, flags=re.MULTILINE)
        for table in re.findall(r"`\[overlays\.(\w+)\]`", tables)
    }

    assert options == {
        (kind, option)
        for kind, designer in (*DESIGNERS.items(), *PERIODIC_DESIGNERS.items(), *RANDOM_DESIGNERS.items())
        if designer.__module__.startswith(("topologies.", "simulator."))
        for option in designer_options(kind)
    }


def designer_rows():
    """Kind, option, stated default and meaning in the table of designers."""
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    for tables, option, default, states in re.findall(
        r"^\| (`\[overlays\.[^|]+) \| `(\w+)` \| \w+ \| ([^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE
    ):
        for kind in re.findall(r"`\[overlays\.(\w+)\]`", tables):
            yield pytest.param(kind, option, default, states, id=f"{kind}-{option}")


@pytest.mark.parametrize(("kind", "option", "default", "states"), list(designer_rows()))
def test_stated_defaults_and_ranges_of_designers_are_those_that_act(kind, option, default, states):
    declared = designer_options(kind)[option]
    if declared.default is not None:
        assert default == (
            f'`"{declared.default}"`' if declared.value_type is str else f"{declared.default:g}"
        )
    stated = re.search(
        r"(?:at least|(above)) ([\d.,]+)(?: and at most ([\d.,]+))?(?:$|;)|([\d.,]+) to ([\d.,]+)$", states
    )
    if declared.value_type is str:
        assert stated is None
        return
    is_open, low, high = stated[1], stated[2] or stated[4], stated[3] or stated[5]
    low, high = (None if end is None else float(end.replace(",", "")) for end in (low, high))
    step = 1 if declared.value_type is int else 1e-9
    ends = [(low, is_open is None), (low - step, False), (low + step, True)]
    ends += [] if high is None else [(high, True), (high + step, False)]
    for value, is_taken in ends:
        with nullcontext() if is_taken else pytest.raises(InputError, match=rf"^{option}\("):
            declared.check(declared.value_type(value))
    if high is None:
        declared.check(10**6)


@pytest.mark.parametrize("heading", [heading for heading in TABLES if heading != "Top level"])
def test_stated_types_are_those_that_a_new_scenario_states(rows, heading):
    """A new scenario names the unit or the choices behind the type."""
    said = {}
    for field in dataclasses.fields(TABLES[heading]):
        if field.name not in (EVENTS, OPTIONS, ENTRIES):
            key = field.name.rstrip("_")
            said[key] = _taken(TABLES[heading], field.name, key).split(":")[0].split(" as in ")[0]
    stated = {key: rows[heading][key][0] for key in said}
    if heading == "`[training]`":
        assert (said.pop("rank_timeout"), stated.pop("rank_timeout")) == ("text or integer", "duration, or 0")

    assert said == stated


@pytest.mark.parametrize(
    ("key", "owner", "taken"),
    [
        ("access", NetworkConfig, 'rate as in "10 Gbps"'),
        ("window_at", NetworkConfig, "table of sizes"),
        ("variant", NetworkConfig, "text: corrected, published"),
        ("until_ci", SimulationConfig, 'percent as in "1 %"'),
        ("model_size", WorkloadConfig, 'size as in "42.9 MB"'),
        ("compute", WorkloadConfig, 'time as in "25 ms"'),
    ],
)
def test_a_new_scenario_names_units_and_choices(owner, key, taken):
    assert _taken(owner, key, key) == taken
