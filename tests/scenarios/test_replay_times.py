"""Times to the target at several capacities are those of the replays one by one."""

import json
import shutil
import sys
from contextlib import nullcontext

import h5py
import numpy as np
import pytest
from edited_run import edited
from test_figures import legend_is_outside

import silosim as package
from scenarios.config.replay_changes import replay_changes
from scenarios.report.line_styles import styles_of
from scenarios.report.plots import plot_times
from scenarios.report.tables import Table
from scenarios.studies.replay_times import replay_times
from topologies import InputError

pytestmark = pytest.mark.usefixtures("compiled_simulations")

ACCESS = ("100 Mbps", "2 Mbps", "10 Mbps")
KINDS = ("star", "ring", "matcha")


@pytest.fixture
def changed(imported_run, tmp_path):
    """A copy of the run that may be changed: a function of its open file."""

    def change(edit):
        path = tmp_path / "changed.h5"
        shutil.copy(imported_run, path)
        with edited(path) as file:
            edit(file)
        return path

    return change


def slow_ring(file):
    """The ring never gets beyond 0.3, and MATCHA gets there later."""
    accuracy = file["training/ring/test_accuracy"]
    accuracy[:] = np.minimum(accuracy[:], 0.3)
    file["training/matcha/test_accuracy"][:] /= 1.4


@pytest.mark.slow
def test_the_table_has_the_times_of_single_replays(silosim, imported_run, tmp_path):
    options = ("--sharing", "equal", "--compute-times", "lognormal 0.2", "--target-accuracy", 0.6)
    whole = json.loads(
        silosim("replay", imported_run, "--access", *ACCESS, *options, "-o", tmp_path / "t", "--json")
        .ok()
        .out
    )

    assert [(row["access_bps"], row["overlay"]) for row in whole["rows"]] == [
        (bps, kind) for bps in (2e6, 1e7, 1e8) for kind in KINDS
    ]
    for place, access in enumerate(("2 Mbps", "10 Mbps", "100 Mbps")):
        path = tmp_path / f"{place}.h5"
        silosim("replay", imported_run, "--access", access, *options, "-o", path).ok()
        shown = json.loads(silosim("show", path, "--json").ok().out)["rows"]
        for row, single in zip(whole["rows"][3 * place :], shown, strict=False):
            assert row["overlay"] == single["overlay"]
            assert row["time_to_target_s"] == single["time_to_target_s"] > 0
            assert row["rounds_to_target"] == single["rounds_to_target"] == 10
            assert row["speedup"] == single["speedup"]
            for name in ("simulated_s", "simulated_half_width_s", "simulated_is_exact", "engine"):
                assert row[name] == single[name]


@pytest.mark.slow
def test_table_and_figure_are_written_and_named(silosim, imported_run, tmp_path):
    result = silosim("replay", imported_run, "--access", *ACCESS[:2], "-o", tmp_path / "times").ok()
    rows = (tmp_path / "times.csv").read_text().splitlines()

    assert (tmp_path / "times.png").read_bytes().startswith(b"\x89PNG")
    assert rows[0].startswith("access_bps,overlay,hub,simulated_s,")
    assert len(rows) == 1 + 2 * 3
    assert result.err == f"written: {tmp_path / 'times.csv'}, {tmp_path / 'times.png'}\n"
    assert "rounds, time, vs STAR: to a test accuracy of 0.5." in result.out
    assert all(len(line) <= 80 for line in result.out.splitlines())
    assert (
        "times.csv exists already"
        in silosim(
            "replay", imported_run, "--access", "1 Gbps", "--access", "2 Gbps", "-o", tmp_path / "times"
        )
        .failed(2)
        .err
    )


@pytest.mark.usefixtures("placeholder_figures")
def test_the_default_name_lies_beside_the_run(silosim, changed, tmp_path):
    path = changed(slow_ring)
    silosim("replay", path, "--access", "1 Gbps", "2 Gbps").ok()

    assert {file.name for file in tmp_path.iterdir()} == {
        "changed.h5",
        "changed-times.csv",
        "changed-times.png",
    }


@pytest.mark.usefixtures("placeholder_figures")
def test_python_gives_the_same_table_and_capacities_once(silosim, imported_run, tmp_path):
    table = package.replay_times(imported_run, ["1 Gbps", "10 Mbps", "1000 Mbps"], model_size="2 Mbit")
    out = silosim(
        *("replay", imported_run, "--access", "1 Gbps", "10 Mbps", "--model-size", "2 Mbit", "--json"),
        *("-o", tmp_path / "t.json"),
    ).ok()

    assert json.loads(out.out)["rows"] == [dict(row) for row in table.rows]
    assert json.loads((tmp_path / "t.json").read_text())["target_accuracy"] == 0.5
    with pytest.raises(InputError, match="must be a sequence of capacities"):
        package.replay_times(imported_run, "1 Gbps")
    with pytest.raises(InputError, match=r"access\(=\[\]\) must have a capacity"):
        package.replay_times(imported_run, [])


@pytest.mark.parametrize(
    ("times_s", "unit", "scale"), [((2.0, 400.0), "s", 1), ((20.0, 400.0), "min", 60), ((2.0, 100.0), "s", 1)]
)
def test_the_unit_of_times_suits_the_shortest_too(drawn, tmp_path, times_s, unit, scale):
    rows = [
        {"overlay": "ring", "access_bps": access_bps, "time_to_target_s": time_s}
        for access_bps, time_s in zip((1e9, 1e7), times_s, strict=True)
    ]
    table = Table(caption="", columns=(), rows=rows, further={"target_accuracy": 0.9})
    plot_times(table, tmp_path / "t.png", title="t")
    assert drawn[0].axes[0].get_ylabel() == f"time to a test accuracy of 0.9 ({unit})"
    assert sorted(drawn[0].axes[0].lines[0].get_ydata()) == pytest.approx([each / scale for each in times_s])


def test_an_overlay_that_never_reaches_the_target_is_a_dash(changed, drawn, tmp_path):
    table, notes = replay_times(changed(slow_ring), ["10 Mbps", "1 Gbps"], replay_changes())
    by_kind = {row["overlay"]: row for row in table.rows}
    plot_times(table, tmp_path / "t.png", title="t")
    (figure,) = drawn

    assert notes == ()
    assert (by_kind["ring"]["rounds_to_target"], by_kind["ring"]["time_to_target_s"]) == (None, None)
    # 1 - 0.9^k >= 0.5 from round 8 on, and 1.4 times that from round 12 on.
    assert (by_kind["star"]["rounds_to_target"], by_kind["matcha"]["rounds_to_target"]) == (8, 12)
    assert "-: ring never reaches it." in table.notes
    assert [line.get_label() for line in figure.axes[0].lines] == ["star", "matcha"]
    assert [line.get_color() for line in figure.axes[0].lines] == [
        styles_of(KINDS)[kind].colour for kind in ("star", "matcha")
    ]
    for line in figure.axes[0].lines:
        times = [row["time_to_target_s"] for row in table.rows if row["overlay"] == line.get_label()]
        assert line.get_xdata().tolist() == [1e7, 1e9]
        assert line.get_ydata().tolist() == pytest.approx(times)
    assert (figure.axes[0].get_xscale(), figure.axes[0].get_yscale()) == ("log", "log")
    assert legend_is_outside(figure)


def test_a_target_that_no_overlay_reaches_is_an_error(silosim, changed, tmp_path):
    path = changed(slow_ring)
    result = silosim(
        "replay", path, "--access", "1 Gbps", "2 Gbps", "--target-accuracy", 0.9, "-o", tmp_path / "t"
    ).failed(2)

    assert "target_accuracy(=0.9) must be reached by an overlay; the highest test accuracy in" in result.err
    assert "changed.h5 is star's 0.878." in result.err
    assert [file.name for file in tmp_path.iterdir()] == ["changed.h5"]


@pytest.mark.slow
@pytest.mark.usefixtures("placeholder_figures")
def test_without_a_target_times_are_to_the_last_round(silosim, changed, drawn, tmp_path):
    def forget(file):
        text = file.attrs["scenario"]
        file.attrs["scenario"] = text.replace("target_accuracy = 0.5\n", "")
        file["training/ring/round"][5:] = -1

    path = changed(forget)
    table, _ = replay_times(path, ["1 Gbps"], replay_changes())
    plot_times(table, tmp_path / "t.png", title="t")

    assert {row["overlay"]: row["rounds_to_target"] for row in table.rows} == {
        "star": 20,
        "ring": 8,
        "matcha": 20,
    }
    assert "to the last recorded round, as there is no target accuracy." in " ".join(table.notes.split())
    assert drawn[0].axes[0].get_ylabel() == "time to the last recorded round (s)"
    named, _ = replay_times(path, ["1 Gbps"], replay_changes(target_accuracy=0.3))
    assert [row["rounds_to_target"] for row in named.rows] == [4, 4, 4]
    single = tmp_path / "single.h5"
    silosim("replay", path, "--access", "1 Gbps", "-o", single).ok()
    with h5py.File(single) as file:
        for row in table.rows:
            count = np.count_nonzero(file[f"training/{row['overlay']}/round"][:] >= 0)
            assert row["time_to_target_s"] == file[f"replay/{row['overlay']}/wall_clock_s"][count - 1]


def test_rows_without_a_test_accuracy_have_no_target(changed):
    def forget(file):
        for kind in KINDS:
            file[f"training/{kind}/test_accuracy"][:] = np.nan

    path = changed(forget)
    table, _ = replay_times(path, ["1 Gbps"], replay_changes())
    assert "as there is no test accuracy" in " ".join(table.notes.split())
    assert table.rows[0]["rounds_to_target"] == 20
    with pytest.raises(InputError, match=r"target_accuracy\(=0.3\) needs a test accuracy, which the rows of"):
        replay_times(path, ["1 Gbps"], replay_changes(target_accuracy=0.3))


def test_a_run_without_training_is_an_error(silosim, changed):
    def forget(file):
        del file["training"]

    result = silosim("replay", changed(forget), "--access", "1 Gbps", "2 Gbps").failed(2)
    assert "has no training rows, so there is no time to a target; silosim sweep compares" in result.err


@pytest.mark.usefixtures("placeholder_figures")
def test_what_cannot_be_replayed_is_said_once(silosim, changed, tmp_path):
    def forget(file):
        del file["overlays/matcha/rounds"]

    path = changed(forget)
    result = silosim("replay", path, "--access", *ACCESS, "-o", tmp_path / "t", "--json").ok()

    assert [row["overlay"] for row in json.loads(result.out)["rows"]] == ["star", "ring"] * 3
    assert " ".join(result.err.split()).count("not replayed: matcha: the file does not hold its rounds") == 1
    with pytest.warns(UserWarning, match="not replayed: matcha"):
        package.replay_times(path, ["1 Gbps"])


def test_nothing_that_can_be_replayed_is_an_error(silosim, imported_run, tmp_path):
    labels = package.open_run(imported_run).silo_labels
    blocked = [word for label in labels[1:] for word in ("--blocked", f"{labels[0]} - {label}")]
    result = silosim("replay", imported_run, "--access", "1 Gbps", "2 Gbps", *blocked, "-o", tmp_path / "t")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("untrained", "target", "rule"),
    [
        (
            (),
            0.7,
            "target_accuracy(=0.7) must be reached by an overlay that can be replayed; the highest test accuracy of "
            "these in {path} is ring's 0.3; not replayed: star: ",
        ),
        (
            ("ring", "matcha"),
            0.5,
            "{path}: no overlay with training rows can be replayed; not replayed: star: ",
        ),
    ],
)
def test_a_target_that_only_blocked_overlays_reach_is_an_error_before_anything_is_written(
    silosim, changed, tmp_path, monkeypatch, untrained, target, rule
):
    def edit(file):
        for kind in ("ring", "matcha"):
            accuracy = file[f"training/{kind}/test_accuracy"]
            accuracy[:] = np.minimum(accuracy[:], 0.3 if kind == "ring" else 0.2)
        for kind in untrained:
            del file[f"training/{kind}"]

    path = changed(edit)
    run = package.open_run(path)
    arcs = {overlay.kind: {(i, j) for i, j, *_ in overlay.arcs.tolist()} for overlay in run.overlays}
    i, j = min(arcs["star"] - arcs["ring"])
    blocked = f"{run.silo_labels[i]} -> {run.silo_labels[j]}"
    monkeypatch.setattr(sys.modules["scenarios.studies.relocation"], "run_job", None)
    result = silosim(
        *("replay", path, "--access", "1 Gbps", "2 Gbps", "--blocked", blocked, "-o", tmp_path / "t"),
        *("--target-accuracy", target),
    ).failed(2)

    assert rule.format(path=path) in result.err
    assert result.err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["changed.h5"]


@pytest.mark.usefixtures("placeholder_figures")
def test_estimates_are_noted_without_a_column_that_is_not_there(silosim, imported_run, tmp_path):
    options = ("--compute-times", "lognormal 0.2", "-o", tmp_path / "t")
    text = silosim("replay", imported_run, "--access", *ACCESS[:2], *options).ok().out

    assert "~: estimated from the last rounds, which show no period.\n" in text
    assert "over paper" not in text


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("1 Gbps", "fast"), "access(='fast') must be a number with a unit"),
        (("1 Gbps", "2 Gbps", "-o", "t.h5"), "output(='t.h5') must end in one of"),
        (("1 Gbps", "2 Gbps", "--seed", "2"), "seed(='2') would alter the learning"),
    ],
)
def test_a_wrong_table_is_one_line_before_anything_is_simulated(
    silosim, imported_run, tmp_path, monkeypatch, arguments, rule
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["scenarios.studies.relocation"], "run_job", None)
    result = silosim("replay", imported_run, "--access", *arguments).failed(2)

    assert rule in result.err
    assert result.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("hub", [True, False])
def test_times_are_compared_with_the_star_where_there_is_one(changed, hub):
    # Without its hub the STAR cannot be replayed.
    path = changed(lambda file: None if hub else file["overlays/star"].attrs.modify("hub", -1))
    with nullcontext() if hub else pytest.warns(UserWarning, match="not replayed: star"):
        table = package.replay_times(path, ["1 Gbps"])

    assert [row["overlay"] for row in table.rows] == list(KINDS if hub else KINDS[1:])
    assert {row["speedup"] is not None for row in table.rows} == {hub}
    assert ("speedup" in [column.key for column in table.columns]) == hub
    assert ("vs STAR" in table.notes) == hub
