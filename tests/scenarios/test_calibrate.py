"""``silosim calibrate``: the table, and the time written into the scenario with all other text kept."""

import datetime
import json
import re
import tomllib

import numpy as np
import pytest

from scenarios.config.scenario import parse_scenario, preset_text
from scenarios.config.toml_edit import with_compute
from scenarios.studies.calibrate import calibration_table
from topologies import InputError, MachineError
from training import TrainingConfig
from training.step_time import StepTimes

ABOVE = "# measured on CPU, median of 50 steps, 2026-11-28"


def edited(text, compute_s=0.003123):
    return with_compute(text, compute_s, ABOVE.removeprefix("# measured on "), source="a.toml")


@pytest.fixture
def fake_steps(monkeypatch):
    """Steps of 1, 2 and 4 ms on hardware of a known name; n silos take n times as long."""

    def measure(config, *, seed, silos, silo_places, **_):
        assert isinstance(config, TrainingConfig)
        assert seed == 3
        assert silo_places is None
        times = silos * np.array([0.001, 0.002, 0.004])
        return StepTimes(hardware="Test CPU (1 thread)", silos=silos, times_s=times, notices=("executor x",))

    monkeypatch.setattr("scenarios.studies.calibrate.measure_step", measure)


def test_a_value_is_replaced_and_all_else_stays():
    text = preset_text("geant-digits")
    old = 'compute = "10 ms"         # of one local step'
    assert old in text

    assert edited(text) == text.replace(old, f'{ABOVE}\ncompute = "3.123 ms"         # of one local step')


def test_a_later_measurement_replaces_the_earlier_one_and_its_comment():
    text = preset_text("geant-digits")

    assert edited(edited(text, 7.0)) == edited(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[workload]\npreset = 'femnist'\n",
            f"[workload]\n{ABOVE}\ncompute = \"3.123 ms\"\npreset = 'femnist'\n",
        ),
        ("[workload]", f'[workload]\n{ABOVE}\ncompute = "3.123 ms"\n'),
        ("[a]\nb = 1", f'[a]\nb = 1\n\n[workload]\n{ABOVE}\ncompute = "3.123 ms"\n'),
        ("", f'\n[workload]\n{ABOVE}\ncompute = "3.123 ms"\n'),
        (
            "  [ 'workload' ] # x\n\t\"compute\"='1 s'\n[a]\ncompute = \"2 s\"\n",
            f'  [ \'workload\' ] # x\n\t{ABOVE}\n\t"compute"="3.123 ms"\n[a]\ncompute = "2 s"\n',
        ),
        (
            "[a]\ncompute = '2 s'\n[workload]\n#compute = '3 s'\n\n[simulation.compute]\ncv = 1\n",
            f"[a]\ncompute = '2 s'\n[workload]\n{ABOVE}\ncompute = \"3.123 ms\"\n#compute = '3 s'\n\n"
            "[simulation.compute]\ncv = 1\n",
        ),
        (
            "[workload]\r\ncompute = '1 s'\r\n",
            f'[workload]\r\n{ABOVE}\r\ncompute = "3.123 ms"\r\n',
        ),
    ],
)
def test_tables_in_all_forms(text, expected):
    assert edited(text) == expected
    assert tomllib.loads(expected)["workload"]["compute"] == "3.123 ms"


@pytest.mark.parametrize(
    "text",
    [
        "workload = { compute = '1 s' }\n",
        "workload.compute = '1 s'\n",
        '[workload]\ncompute = """1 s"""\n',
        'name = """\n[workload]\n"""\n',
    ],
)
def test_forms_that_cannot_be_changed_are_refused(text):
    with pytest.raises(InputError) as error:
        edited(text)

    message = str(error.value)
    assert message.startswith("a.toml: [workload] must be ")
    assert 'compute = "3.123 ms"' in message


def test_a_text_beyond_the_limits_is_refused_and_not_edited():
    with pytest.raises(InputError, match=r"^a\.toml: tables and lists must be nested at most 32 deep\.$"):
        edited(f"x = {'[' * 900}{']' * 900}\n")


@pytest.mark.usefixtures("fake_steps")
def test_the_table(silosim, scenario):
    before = scenario.read_text()

    result = silosim("calibrate", scenario, "--silos", 4)

    assert result.code == 0, result.err
    assert "small: softmax on digits, batch size 16, sgd\nTest CPU (1 thread)" in result.out
    one, four = (line.split() for line in result.out.splitlines() if line.startswith(("    1 ", "    4 ")))
    assert one == ["1", "3", "2.000", "1.500", "3.000", "2.000", "8000"]
    assert four == ["4", "3", "8.000", "6.000", "12.00", "2.000", "8000"]
    assert re.search(r"10\.00 ms, 5\.000 times", result.out)
    assert max(map(len, result.out.splitlines())) <= 80
    assert scenario.read_text() == before


@pytest.mark.usefixtures("fake_steps")
def test_json_has_seconds(silosim, scenario):
    rows = json.loads(silosim("calibrate", scenario, "--json").ok().out)["rows"]

    assert len(rows) == 1
    assert rows[0] == {
        "silos": 1,
        "steps": 3,
        "median_s": 0.002,
        "lower_quartile_s": 0.0015,
        "upper_quartile_s": 0.003,
        "per_silo_s": 0.002,
        "samples_per_s": 8000.0,
        "hardware": "Test CPU (1 thread)",
    }


@pytest.mark.usefixtures("fake_steps")
def test_the_median_of_one_silo_is_written(silosim, scenario):
    before = scenario.read_text()
    scenario.chmod(0o640)

    result = silosim("calibrate", scenario, "--write", "--silos", 3)

    comment = f"# measured on Test CPU (1 thread), median of 3 steps, {datetime.date.today()}"
    assert result.code == 0, result.err
    assert scenario.read_text() == before.replace('compute = "10 ms"', f'{comment}\ncompute = "2.000 ms"')
    assert scenario.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in scenario.parent.iterdir()] == [scenario.name]


@pytest.mark.usefixtures("fake_steps")
def test_a_copy_leaves_the_scenario_alone(silosim, scenario, tmp_path):
    before, copy = scenario.read_text(), tmp_path / "new" / "copy.toml"

    first = silosim("calibrate", scenario, "-o", copy)
    again = silosim("calibrate", scenario, "-o", copy)

    assert (first.code, again.code) == (0, 2)
    assert "exists already; --force replaces it" in again.err
    assert scenario.read_text() == before
    assert parse_scenario(copy.read_text(), source="").workload.compute == "2.000 ms"


@pytest.mark.usefixtures("fake_steps")
@pytest.mark.parametrize(
    ("local_steps", "times"), [(1, "0.001\n0.002\n0.004\n"), (2, "0.003\n"), (3, "0.007\n")]
)
def test_times_of_rounds_are_a_trace_for_simulations(silosim, scenario, tmp_path, local_steps, times):
    scenario.write_text(
        scenario.read_text().replace("[workload]\n", f"[workload]\nlocal_steps = {local_steps}\n")
    )
    path = tmp_path / "times.csv"

    silosim("calibrate", scenario, "--steps", 3, "--times", path).ok()
    assert path.read_text() == f"compute_s\n{times}"
    assert "exists already" in silosim("calibrate", scenario, "--times", path).failed(2).err
    simulated = silosim("simulate", "gaia", "--kind", "ring", "--compute-times", path, "--rounds", 20)
    assert simulated.code == 0, simulated.err


@pytest.mark.usefixtures("fake_steps")
def test_a_round_needs_as_many_steps(silosim, scenario, tmp_path):
    scenario.write_text(scenario.read_text().replace("[workload]\n", "[workload]\nlocal_steps = 4\n"))

    result = silosim("calibrate", scenario, "--steps", 3, "--times", tmp_path / "times.csv")

    assert result.code == 2
    assert "steps(=3) must be >= local_steps(=4) with --times." in result.err


def test_a_read_only_scenario_is_refused_before_anything_is_measured(silosim, scenario, monkeypatch):
    monkeypatch.setattr("scenarios.cli.calibrate.measure", lambda *_, **__: pytest.fail("measured"))
    scenario.chmod(0o444)

    result = silosim("calibrate", scenario, "--write")

    assert result.code == 2
    assert result.err.endswith(f"{scenario} is read-only; -o FILE writes a copy.\n")


def test_a_scenario_without_training_is_refused(silosim, scenario):
    text = scenario.read_text()
    scenario.write_text(text[: text.index("[training]")])

    result = silosim("calibrate", scenario)

    assert result.code == 2
    assert "calibrate needs a [training] table" in result.err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [("--steps", 0, "steps(=0) must be >= 1."), ("--silos", 12, "silos(=12) must be >= 1 and <= 11")],
)
def test_numbers_out_of_range(silosim, scenario, option, value, words):
    result = silosim("calibrate", scenario, option, value)

    assert result.code == 2
    assert words in result.err


def test_a_step_that_does_not_fit_into_memory_is_one_line(silosim, scenario):
    scenario.write_text(
        scenario.read_text().replace("[training]\n", "[training]\nbatch_size = 100_000_000_000\n")
    )

    result = silosim("calibrate", scenario, "--silos", 2)

    assert result.code == 3
    assert result.err.count("\n") == 1
    assert "training must fit into memory: rank 0 on the machine of rank 0 would take " in result.err
    assert result.err.endswith("not one silo per rank would fit: take a smaller batch_size.\n")


def test_the_most_silos_are_measured_first(silosim, scenario, monkeypatch):
    def measure(_config, *, silos, **_):
        raise MachineError(f"no memory for {silos}.")

    monkeypatch.setattr("scenarios.studies.calibrate.measure_step", measure)

    assert "no memory for 5." in silosim("calibrate", scenario, "--silos", 5).failed(3).err


def test_a_real_step_is_measured_and_the_scenario_still_runs(silosim, scenario):
    result = silosim("calibrate", scenario, "--steps", 3, "--silos", 2, "--write", "--json")

    assert result.code == 0, result.err
    one, two = json.loads(result.out)["rows"]
    assert 0 < one["lower_quartile_s"] <= one["median_s"] <= one["upper_quartile_s"] < 10
    assert two["samples_per_s"] == pytest.approx(2 * 16 / two["median_s"])
    written = parse_scenario(scenario.read_text(), source="")
    assert written.workload.compute is not None
    assert float(written.workload.compute.split()[0]) > 0


@pytest.mark.parametrize(
    ("silos", "unit", "medians"), [((1,), "ms", ["4000"]), ((1, 4), "s", ["4.000", "16.00"])]
)
def test_the_longest_time_makes_the_unit_and_silos_on_one_rank_are_explained(silos, unit, medians):
    scenario = parse_scenario(preset_text("geant-digits"), source="s.toml")
    measured = [
        StepTimes(hardware="CPU", silos=count, times_s=np.full(3, 4.0 * count), notices=()) for count in silos
    ]
    table = calibration_table(scenario, measured)
    column = next(column for column in table.columns if column.key == "median_s")

    assert column.title == f"median\n{unit}"
    assert [column.show(row["median_s"]) for row in table.rows] == medians
    assert ("a step of 4 silos on one rank, divided by 4." in table.notes) == (len(silos) == 2)
    assert ("per silo" in table.notes) == (len(silos) == 2)
