"""The documented kind of events plugs in by one class and one entry point, with a known simulated result."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.config.events import event_kinds
from scenarios.config.scenario import parse_scenario
from scenarios.config.toml import scenario_text
from scenarios.simulation.experiment import load_experiment
from topologies import InputError, MachineError

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "event_kind.py"
# Three silos, a core link of 1 Mbps between each two: with 10 s of computing, 1 s of sending and 4 ms, a round takes
# 11.004 s; with half of a link's capacity, 12.004 s.
ROUND_S, SLOW_S = 11.004, 12.004
NETWORK = "\n".join(
    (
        "graph [",
        *(f'node [ id {n} label "{label}" ]' for n, label in enumerate("ABC")),
        *(f"edge [ source {a} target {b} distance 0.0 capacity 1.0e6 ]" for a, b in ((0, 1), (1, 2), (0, 2))),
        "]",
    )
)
SCENARIO = """
network = { underlay = "net.gml", access = "10 Gbps" }
workload = { model_size = "1 Mbit", compute = "10 s" }
overlays.kinds = ["complete"]
simulation.rounds = 100
"""
MAINTENANCE = """
[[simulation.maintenance]]
link = "A - B"
begin = "0 s"
end = "100 s"
remaining = "50 %"
"""
FAILURE = '[[simulation.failure]]\nlink = "A - C"\nfrom = "2000 s"\n'


@pytest.fixture
def installed(install_package):
    """A package with the example, as pip would install it."""
    install_example(install_package, "maintenance")


def install_example(install_package, name):
    entry_points = f"[silosim.event_kinds]\n{name} = example_event_kind:Maintenance\n"
    install_package("link-maintenance", entry_points, {"example_event_kind": EXAMPLE.read_text("utf-8")})


@pytest.fixture
def write(tmp_path):
    """A scenario of the three silos, with tables of events."""
    (tmp_path / "net.gml").write_text(NETWORK)
    path = tmp_path / "x.toml"

    def write_it(tables):
        path.write_text(SCENARIO + tables)
        return path

    return write_it


def test_the_example_is_short():
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 40


@pytest.mark.usefixtures("installed")
def test_rounds_during_maintenance_take_as_long_as_the_slow_link(silosim, write, tmp_path):
    result = silosim("simulate", write(MAINTENANCE), "-o", tmp_path / "x.h5")

    assert result.code == 0, result.err
    with h5py.File(tmp_path / "x.h5") as file:
        rounds_s = np.diff(file["simulation/complete/round_start_s"][:].max(axis=1))
        kept = parse_scenario(file.attrs["scenario"], source="x.h5")
    # Eight rounds send by 96.028 s; the ninth one sends from 106.032 s on, after the maintenance.
    assert rounds_s[:8] == pytest.approx(SLOW_S, rel=1e-12)
    assert rounds_s[8:] == pytest.approx(ROUND_S, rel=1e-12)
    words = " ".join(result.out.split())
    assert "with maintenance" in words
    assert "the capacity is what maintenance leaves" in words
    assert "Over before these rounds, so that only delays still on their way count: A - B at 50 %" in words
    assert kept.simulation.tables == ("maintenance",)


@pytest.mark.usefixtures("installed")
def test_validate_names_it_as_the_cause(silosim, write):
    whole = write(MAINTENANCE.replace("100 s", "1 d"))
    shown = silosim("validate", whole)
    row = json.loads(silosim("validate", whole, "--json").ok().out)["rows"][0]

    assert shown.code == 0, shown.err
    words = " ".join(shown.out.split())
    assert "Closed forms and equal know nothing of maintenance." in words
    assert "maintenance on core link" in words
    assert row["maxmin_s"] == pytest.approx(SLOW_S, rel=1e-9)
    assert row["equal_s"] == pytest.approx(ROUND_S, rel=1e-9)
    assert row["world_s"] == pytest.approx(SLOW_S - ROUND_S, rel=1e-9)


@pytest.mark.usefixtures("installed")
def test_a_scenario_keeps_it_beside_events_of_other_kinds(write):
    experiment = load_experiment(write(MAINTENANCE + FAILURE))
    text = scenario_text(experiment.network, experiment.work, experiment.overlays, experiment.simulation, 0)

    assert experiment.simulation.tables == ("failure", "maintenance")
    assert parse_scenario(text, source="again").simulation == experiment.simulation


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "A - B",
            "A - X",
            "simulation.maintenance[0].link(='A - X') must be one of 18 names; did you mean 'A - C'? Among them are ",
        ),
        ("50 %", "50", "simulation.maintenance[0].remaining(='50') must be a share in percent"),
        ('"0 s"', "0", 'simulation.maintenance[0].begin(=0) must be a text with a unit, as in "5 s".'),
        (
            "begin",
            "start",
            "[simulation.maintenance] has no key 'start'; its keys are begin, end, link, remaining",
        ),
        ('"0 s"', '"101 s"', "simulation.maintenance[0].end(='100 s') must be > begin(='101 s')."),
        ("maintenance", "maintenence", "[simulation] has no key 'maintenence'; "),
        (
            "[[",
            'simulation.sharing = "equal"\n[[',
            "simulation.sharing(='equal') must be a model whose network can change, such as "
            "'maxmin', with [[simulation.maintenance]]",
        ),
    ],
)
def test_mistakes_are_named_as_those_of_other_events(write, old, new, message):
    path = write(MAINTENANCE.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_experiment(path).check()

    assert str(caught.value).startswith(f"{path}: {message}")
    assert "did you mean 'maintenance'?" in str(caught.value) or "maintenence" not in message


def test_tables_of_the_package_itself_need_no_look_at_installed_ones(monkeypatch):
    for name in ("all_names", "find_entry"):
        monkeypatch.setattr(event_kinds, name, lambda *_, **__: pytest.fail("looked at installed packages"))
    own = ["background", "demands", "capacity", "failure", "away"]

    assert list(event_kinds.kinds_for(["away", "background"])) == own
    assert list(event_kinds.tables_for(["away", "background"])) == own


def test_without_the_package_its_table_is_unknown(write):
    with pytest.raises(InputError, match=r"\[simulation\] has no key 'maintenance'; .*failure"):
        load_experiment(write(MAINTENANCE))


def test_the_entry_point_has_the_name_of_its_own_table(install_package):
    message = r"Maintenance in silosim\.event_kinds must be a kind of events with table 'works'"
    install_example(install_package, "works")
    with pytest.raises(MachineError, match=message):
        event_kinds.kinds_for(["works"])


def test_a_table_of_silosim_stays_its_own(install_package):
    install_example(install_package, "failure")
    assert event_kinds.kinds_for(["failure", "other"]) == event_kinds.BUILT_IN


@pytest.fixture
def with_broken(install_package):
    """The example beside a package whose kinds of events cannot be imported, one of the example's name."""
    install_package(
        "broken", "[silosim.event_kinds]\nmaintenance = no_such_module:Kind\nstorm = no_such_module:Storm\n"
    )
    install_example(install_package, "maintenance")


@pytest.mark.usefixtures("with_broken")
@pytest.mark.parametrize(
    ("table", "code", "message"),
    [
        ("bakground", 2, "x.toml: [simulation] has no key 'bakground'; "),
        (
            "storm",
            3,
            "the kind of events storm (no_such_module:Storm) cannot be imported: ModuleNotFoundError: ",
        ),
        (
            "maintenance",
            2,
            "the kind of events maintenance is registered more than once in silosim.event_kinds: ",
        ),
    ],
)
def test_a_package_that_cannot_be_imported_matters_where_it_is_named(silosim, write, table, code, message):
    result = silosim("simulate", write(f'[[simulation.{table}]]\nlink = "A - B"\n'))

    assert (result.code, result.err.count("\n")) == (code, 1)
    assert message in result.err
