"""Studies of replays: each point has the numbers of the replay that it names."""

import csv
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from edited_run import edited

from scenarios.api import open_study
from scenarios.config.study import load_study
from scenarios.report.study_lines import study_lines
from scenarios.studies.study import run_study, study_points
from topologies import InputError

KINDS = ["star", "ring", "matcha"]
GRID = '[study.grid]\n"network.access" = ["10 Mbps", "1 Gbps"]\n'


@contextmanager
def threads(workers=2):
    with ThreadPoolExecutor(workers) as pool:
        yield pool


@pytest.fixture
def study(imported_run, tmp_path):
    """Write a study of the run, which lies beside it, and read it."""
    shutil.copy(imported_run, tmp_path / "run.h5")

    def write(text, head=""):
        (tmp_path / "study.toml").write_text(f'{head}\n[study]\nrun = "run.h5"\n{text}')
        return load_study(tmp_path / "study.toml")

    return write


def computed(study, path, **options):
    errors = [*run_study(study, path, pool=threads(), workers=2, **options).errors]
    return errors, list(csv.DictReader(path.read_text().splitlines()))


def replayed(silosim, run, path, *options):
    silosim("replay", run, *options, "-o", path).ok()
    return json.loads(silosim("show", path, "--json").ok().out)["rows"]


@pytest.mark.slow
def test_a_point_is_a_replay(silosim, study, imported_run, tmp_path):
    head = (
        '[workload]\nmodel_size = "2 Mbit"\n[simulation]\nqueueing = "overlap"\n'
        '[[simulation.failure]]\nlink = "Dublin - Frankfurt"\nfrom = "0 s"\nuntil = "2 s"\n'
    )
    text = (
        'target_accuracy = 0.6\n[study.grid]\n"network.access" = ["10 Mbps", "1 Gbps"]\n'
        '"workload.compute" = ["20 ms"]\n"simulation.failure.0.link" = ["Oregon - Seoul"]\n'
    )
    errors, rows = computed(study(text, head), tmp_path / "study.csv")
    (tmp_path / "events.toml").write_text(
        head[head.index("[[") :].replace("Dublin - Frankfurt", "Oregon - Seoul")
    )
    single = replayed(
        silosim,
        imported_run,
        tmp_path / "new.h5",
        *("--access", "1 Gbps", "--model-size", "2 Mbit", "--compute", "20 ms", "--queueing", "overlap"),
        *("--events", tmp_path / "events.toml", "--target-accuracy", 0.6),
    )

    assert errors == []
    assert [row["overlay"] for row in rows] == KINDS * 2
    for row, expected in zip(rows[-3:], single, strict=True):
        assert row["overlay"] == expected["overlay"]
        assert float(row["time_to_target_s"]) == expected["time_to_target_s"]
        assert int(row["rounds_to_target"]) == expected["rounds_to_target"] == 10
        assert float(row["simulated_s"]) == expected["simulated_s"]
        assert float(row["paper_s"]) == expected["paper_s"]
        assert (row["access_bps"], row["model_bits"], row["compute_s"]) == (
            "1000000000.0",
            "2000000.0",
            "0.02",
        )
        assert (row["queueing"], row["target_accuracy"], row["kind"]) == ("overlap", "0.6", row["overlay"])


@pytest.mark.slow
def test_targets_vary_and_keys_of_the_run_stay_where_they_are_not_superseded(silosim, study, tmp_path):
    run = tmp_path / "other.h5"
    files = study(GRID).folder
    silosim(
        "replay", files / "run.h5", "--access-at", "Seoul=1 Mbps", "--access-up", "50 Mbps", "-o", run
    ).ok()
    shutil.move(run, files / "run.h5")
    head = '[network]\ncore = "1 Gbps"'
    kept, superseded, nested = (
        study_points(study(text, head))
        for text in (
            "[study.grid]\ntarget_accuracy = [0.3, 0.6]\n",
            GRID,
            '[study.grid]\n"network.access_at.Tokyo" = ["2 Mbps", "1 Mbps"]\n',
        )
    )

    assert [point.scenario.target_accuracy for point in kept] == [0.3, 0.6]
    assert kept[0].varied == {"target_accuracy": 0.3}
    network = kept[0].scenario.network
    assert (network.access, network.access_up, network.core) == ("100 Mbps", "50 Mbps", "1 Gbps")
    assert network.access_at == {"Seoul": "1 Mbps"}
    network = superseded[0].scenario.network
    assert (network.access, network.access_up, network.access_at) == ("10 Mbps", None, None)
    assert nested[0].scenario.network.access_at == {"Seoul": "1 Mbps", "Tokyo": "2 Mbps"}
    rows = computed(study("[study.grid]\ntarget_accuracy = [0.3, 0.6]\n"), tmp_path / "s.csv")[1]
    assert [row["rounds_to_target"] for row in rows] == ["4"] * 3 + ["10"] * 3


@pytest.mark.slow
def test_an_overlay_that_cannot_be_replayed_is_a_row_beside_the_others(silosim, study, tmp_path):
    wanted = study(GRID)
    path = tmp_path / "study.csv"
    with edited(tmp_path / "run.h5") as file:
        del file["overlays/matcha/rounds"]
        # The overlay with the error comes first.
        for order, kind in enumerate(("matcha", "star", "ring")):
            file[f"overlays/{kind}"].attrs["order"] = order
    errors, rows = computed(wanted, path)

    assert [row["overlay"] for row in rows] == ["matcha", "star", "ring"] * 2
    assert all("matcha: the file does not hold its rounds" in row["error"] for row in rows[::3])
    assert all(row["time_to_target_s"] and not row["error"] for row in rows[1:3] + rows[4:6])
    assert len(errors) == 2
    assert errors[0].startswith("access_bps 10 Mbps: matcha: the file does not hold its rounds")
    table = open_study(path)
    assert table.time_to_target_s.isna().tolist() == [True, False, False] * 2
    result = silosim("study", tmp_path / "study.toml", "-o", path, "--workers", 1).failed(1)
    assert result.err.count("silosim: error: ") == 2
    # A point that a kill has cut after the row with its error is computed again.
    whole = path.read_bytes()
    path.unlink()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "study.csv.partial").write_bytes(b"".join(lines[:2]))
    computed(wanted, path)
    assert path.read_bytes() == whole


def test_another_run_is_another_point_and_finished_ones_stay(study, tmp_path, monkeypatch):
    wanted = study(GRID)
    before = [point.identity for point in study_points(wanted)]
    computed(wanted, tmp_path / "study.csv")
    monkeypatch.setattr("scenarios.studies.study.compute_replays", None)
    errors, rows = computed(wanted, tmp_path / "study.csv")
    with edited(tmp_path / "run.h5") as file:
        file["training/ring/test_accuracy"][3] += 0.01
    after = [point.identity for point in study_points(wanted)]

    assert (errors, [row["point"] for row in rows[::3]]) == ([], before)
    assert not set(before) & set(after)


def test_an_underlay_of_the_study_is_found_beside_it_and_read(study, tmp_path):
    nodes = "".join(f' node [ id {i} label "s{i:02}" longitude {i}.0 latitude 1.0 ]' for i in range(11))
    links = "".join(f" edge [ source {i} target {i + 1} distance 100.0 ]" for i in range(10))
    (tmp_path / "line.gml").write_text(f"graph [{nodes}{links} ]")
    wanted = study('[study.grid]\n"network.underlay" = ["line.gml", "gaia"]\n')
    errors, rows = computed(wanted, tmp_path / "study.csv")

    assert [row["network"] for row in rows] == ["line"] * 3 + ["gaia"] * 3
    assert errors == []


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("network.underlay", "geant", "geant has 40 silos, but the run has 11."),
        ("network.underlay", "aws-na", "underlay(='aws-na')"),
        ("network.access_at.Nowhere", "1 Gbps", "access_at silo(='Nowhere')"),
        ("simulation.failure.0.link", "Oregon - Nowhere", "link(='Oregon - Nowhere')"),
    ],
)
def test_what_no_point_can_be_is_refused_before_any_is_computed(study, tmp_path, key, value, rule):
    head = '[[simulation.failure]]\nlink = "Dublin - Frankfurt"\nfrom = "0 s"\nuntil = "2 s"\n'
    wanted = study(f'[study.grid]\n"network.core" = ["1 Gbps"]\n"{key}" = ["{value}"]\n', head)
    with pytest.raises(InputError, match=re.escape(rule)):
        computed(wanted, tmp_path / "s.csv")
    assert not [found for found in tmp_path.iterdir() if found.name.startswith("s.csv")]


@pytest.mark.parametrize(
    ("head", "text", "rule"),
    [
        (
            '[overlays]\nkinds = ["ring"]',
            GRID,
            "overlays would alter the learning, whose rows a replay keeps",
        ),
        ("seed = 3", GRID, r"seed\(=3\) would alter the learning"),
        ("[training]\nrounds = 3", GRID, "training would alter the learning"),
        ("[workload]\nlocal_steps = 3", GRID, r"workload.local_steps\(=3\) would alter the learning"),
        (
            "[workload]\npreset = 'femnist'",
            GRID,
            "workload.preset cannot change in a replay; state model_size",
        ),
        ("", "[study.grid]\nseed = [1, 2]", r"seed\(=1\) would alter the learning"),
        ("", '[study.grid]\n"workload.local_steps" = [2]', r"workload.local_steps\(=2\) would alter"),
        ("", "[study.grid]\nworkload = [{ local_steps = 2 }]", r"workload.local_steps\(=2\) would alter"),
        ("", '[study.grid]\n"overlays.matcha.budget" = [0.2]', r"overlays.matcha.budget\(=0.2\) would alter"),
        ("", '[study.grid]\n"training.rounds" = [2]', r"training.rounds\(=2\) would alter"),
        ("", '[study.grid]\n"network.acess" = ["1 Gbps"]', r"\[network\] has no key 'acess'.*did you mean"),
        ("", '[study.grid]\n"network.variant" = ["published"]', "variant goes with another underlay"),
        ("", "[study.grid]\ntarget_accuracy = [0.3, 2]", r"target_accuracy\(=2.0\) must be > 0 and <= 1"),
    ],
)
def test_a_wrong_study_of_replays_is_one_line(study, head, text, rule):
    with pytest.raises(InputError, match=f"study.toml: .*{rule}") as caught:
        study_points(study(text, head))
    assert "\n" not in str(caught.value)


def test_a_run_that_is_missing_or_has_no_accuracy_is_said(study, tmp_path):
    with edited(tmp_path / "run.h5") as file:
        for kind in KINDS:
            file[f"training/{kind}/test_accuracy"][:] = float("nan")
    with pytest.raises(InputError, match=r"target_accuracy\(=0.3\) needs a test accuracy"):
        study_points(study(f"target_accuracy = 0.3\n{GRID}"))
    rows = computed(study(GRID), tmp_path / "a.csv")[1]
    assert {(row["target_accuracy"], row["rounds_to_target"]) for row in rows} == {("", "20")}
    wanted = study(GRID)
    (tmp_path / "run.h5").unlink()
    with pytest.raises(InputError, match=r"run\.h5: there is no such file"):
        study_points(wanted)
    (tmp_path / "study.toml").write_text(f"[study]\ntarget_accuracy = 0.3\n{GRID}")
    with pytest.raises(InputError, match=r"study.target_accuracy\(=0.3\) goes with run"):
        load_study(tmp_path / "study.toml")


@pytest.mark.slow
def test_processes_compute_the_same_bytes(silosim, study, tmp_path):
    study(GRID.replace('"1 Gbps"', '"1 Gbps", "2 Gbps", "3 Gbps", "4 Gbps"'))
    for workers in (1, 2):
        silosim(
            "study", tmp_path / "study.toml", "-o", tmp_path / f"{workers}.csv", "--workers", workers
        ).ok()

    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_the_figure_of_times_to_the_target_names_it_and_the_fixed_capacity(study, tmp_path):
    path = tmp_path / "study.csv"
    computed(
        study(
            'target_accuracy = 0.6\n[study.grid]\n"workload.model_size" = ["20 kbit", "2 Mbit"]\n',
            '[network]\naccess = "50 Mbps"\n',
        ),
        path,
    )
    title = study_lines(open_study(path), y="time_to_target_s").title

    assert "access 50 Mbps" in title
    assert "to a test accuracy of 0.6" in title


def test_a_point_of_a_list_has_the_runs_values_for_the_keys_that_it_leaves_out(study, tmp_path):
    points = (
        '[[study.points]]\n"network.access" = "1 Gbps"\n[[study.points]]\n"simulation.sharing" = "equal"\n'
        "[[study.points]]\ntarget_accuracy = 0.5\n"
    )
    made = study(points)
    _, rows = computed(made, tmp_path / "study.csv")
    own = load_study(tmp_path / "study.toml")
    scenarios = [point.scenario for point in study_points(own)]

    assert [row["sharing"] for row in rows] == [
        sharing for sharing in ("maxmin", "equal", "maxmin") for _ in KINDS
    ]
    assert [row["access_bps"] == row["access_up_bps"] != "" for row in rows] == [True] * len(rows)
    assert [row["target_accuracy"] for row in rows] == [
        "" if scenario.target_accuracy is None else str(scenario.target_accuracy)
        for scenario in scenarios
        for _ in KINDS
    ]
    assert rows[-1]["target_accuracy"] == "0.5"
