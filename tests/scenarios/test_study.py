"""Studies: points of a grid, the same table whatever the workers, kills, and errors of single points."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.api import open_study
from scenarios.config.network import build_network
from scenarios.config.study import (
    StudyConfig,
    _changed,
    _single_keys,
    column_of,
    identity,
    parse_study,
    shared_ending,
    split_key,
)
from scenarios.runfile.study_rows import finished_points, whole_lines
from scenarios.runtime.workers import process_pool
from scenarios.studies import study_points as study_points_module
from scenarios.studies.parallel_points import chunk_size
from scenarios.studies.study import run_study, study_points
from scenarios.studies.study_points import compute_points
from topologies import InputError, MachineError, load_underlay
from training.mpi_environment import mpiexec_path

BASE = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["star", "ring", "matcha"]
[simulation]
rounds = 30
"""
GRID = (
    BASE
    + """
[study.grid]
"network.access" = ["100 Mbps", "1 Gbps"]
"workload.local_steps" = [1, 5]
seed = [0, 7]
"""
)
QUICK_GRID = GRID.replace(', "matcha"', "")
"""Without the overlay whose design takes longest."""


@contextmanager
def threads(workers=2):
    with ThreadPoolExecutor(workers) as pool:
        yield pool


def read(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def study_of(text, tmp_path):
    return parse_study(text, source="study.toml", folder=tmp_path)


@pytest.fixture
def file(tmp_path):
    def write(text, name="study.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_a_point_for_each_combination_the_last_key_fastest(tmp_path):
    points = study_points(study_of(GRID, tmp_path))

    assert [tuple(point.varied.values()) for point in points] == [
        (access, steps, seed) for access in (1e8, 1e9) for steps in (1, 5) for seed in (0, 7)
    ]
    assert len({point.identity for point in points}) == 8
    assert points[-1].scenario.network.access == "1 Gbps"
    assert (points[-1].scenario.workload.local_steps, points[-1].scenario.seed) == (5, 7)


def test_the_table_has_the_numbers_of_design(silosim, file, tmp_path):
    silosim("study", file(GRID), "-o", tmp_path / "study.csv", "--workers", 1).ok()
    rows = read(tmp_path / "study.csv")
    designed = json.loads(
        silosim(
            *(
                "design",
                "gaia",
                "--access",
                "1 Gbps",
                "--workload",
                "femnist",
                "--local-steps",
                5,
                "--seed",
                7,
            ),
            *("--kind", "star", "--kind", "ring", "--kind", "matcha", "--json"),
        )
        .ok()
        .out
    )["rows"]
    last = rows[-3:]

    assert len(rows) == 24
    assert [row["overlay"] for row in last] == ["star", "ring", "matcha"]
    for row, expected in zip(last, designed, strict=True):
        assert float(row["paper_s"]) == expected["paper_s"]
        assert (row["access_bps"], row["local_steps"], row["seed"]) == ("1000000000.0", "5", "7")
    assert float(last[1]["spectral_gap"]) == designed[1]["spectral_gap"]
    assert not (tmp_path / "study.csv.partial").exists()


def test_simulated_points_are_those_of_simulate(silosim, file, tmp_path):
    text = GRID.replace("[study.grid]", "[study]\nsimulate = true\n[study.grid]").replace("[1, 5]", "[1]")
    text = text.replace(', "matcha"', "")
    silosim("study", file(text), "-o", tmp_path / "study.csv", "--workers", 1).ok()
    (row,) = [
        row
        for row in read(tmp_path / "study.csv")
        if (row["access_bps"], row["local_steps"], row["seed"], row["overlay"])
        == ("100000000.0", "1", "7", "ring")
    ]
    simulated = json.loads(
        silosim(
            *("simulate", "gaia", "--access", "100 Mbps", "--workload", "femnist", "--kind", "ring"),
            *("--rounds", 30, "--seed", 7, "--json"),
        )
        .ok()
        .out
    )["rows"][0]

    assert float(row["simulated_s"]) == simulated["simulated_s"]
    assert (row["rounds"], row["sharing"]) == (str(simulated["rounds"]), "maxmin")


def test_points_that_differ_by_access_links_have_one_routed_core(tmp_path, monkeypatch):
    built = []

    def counted(config):
        built.append(config.access)
        return build_network(config)

    monkeypatch.setattr(study_points_module, "build_network", counted)
    results = compute_points(study_points(study_of(GRID, tmp_path)), simulate=False, compiled=False)

    assert built == [None]
    assert {row["access_up_bps"] for result in results for row in result.rows} == {1e8, 1e9}


@pytest.mark.slow
def test_compiled_designs_are_the_same_rows(tmp_path):
    points = study_points(study_of(GRID, tmp_path))
    plain = [result.rows for result in compute_points(points, simulate=False, compiled=False)]

    assert [result.rows for result in compute_points(points, simulate=False, compiled=True)] == plain


@given(left=st.integers(1, 10**6), point_s=st.floats(0, 1e3), workers=st.integers(1, 16))
def test_workers_take_no_more_points_than_are_soon_computed_and_few_at_the_end(left, point_s, workers):
    size = chunk_size(left, point_s, workers)

    assert 1 <= size <= 64
    # Only a single point takes longer than half a second, or is more than a worker's third of its share.
    assert size == 1 or (size * point_s <= 0.5 and size * workers * 3 <= left)
    assert chunk_size(left, point_s / 2, workers) >= size


def test_workers_start_with_single_points():
    assert chunk_size(1000, math.inf, 2) == 1
    assert chunk_size(1000, 0.01, 2) == 50
    assert chunk_size(1000, 0.0, 2) == 64


@pytest.mark.slow
def test_the_same_bytes_whatever_the_workers_and_after_a_cut(tmp_path):
    study = study_of(GRID.replace("[1, 5]", "[5]"), tmp_path)
    for name, workers in (("one", 1), ("three", 3)):
        assert run_study(study, tmp_path / f"{name}.csv", pool=threads(workers), workers=workers).errors == ()
    whole = (tmp_path / "one.csv").read_bytes()
    assert (tmp_path / "three.csv").read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    for cut in (1, 5, 7, len(lines) - 1):
        partial = tmp_path / "cut.csv.partial"
        partial.write_bytes(b"".join(lines[:cut]) + lines[cut][: len(lines[cut]) // 2])
        run_study(study, tmp_path / "cut.csv", pool=threads(), workers=2)
        assert (tmp_path / "cut.csv").read_bytes() == whole
        (tmp_path / "cut.csv").unlink()


@pytest.mark.slow
def test_finished_points_are_not_computed_again(tmp_path, monkeypatch):
    study = study_of(QUICK_GRID, tmp_path)
    run_study(study, tmp_path / "a.csv", pool=threads(), workers=2)
    computed = []

    def counted(points, *how, **options):
        computed.extend(point.identity for point in points)
        return original(points, *how, **options)

    original = sys.modules["scenarios.studies.study"].compute_points
    monkeypatch.setattr("scenarios.studies.study.compute_points", counted)
    assert run_study(study, tmp_path / "a.csv", pool=threads(), workers=2).errors == ()
    assert computed == []
    lines = (tmp_path / "a.csv").read_text().splitlines(keepends=True)
    (tmp_path / "b.csv.partial").write_text("".join(lines[: 1 + 2 * 5]))
    run_study(study, tmp_path / "b.csv", pool=threads(), workers=2)
    assert len(computed) == 3
    # One more value computes its points only.
    more = study_of(QUICK_GRID.replace("[0, 7]", "[0, 7, 8]"), tmp_path)
    (tmp_path / "c.csv.partial").write_text("".join(lines))
    computed.clear()
    run_study(more, tmp_path / "c.csv", pool=threads(), workers=2)
    assert len(computed) == 4


def test_a_changed_file_is_another_point(tmp_path):
    text = BASE.replace("underlay", "#").replace("[workload]", 'pairs = "pairs.csv"\n[workload]') + (
        "[study.grid]\nseed = [1]\n"
    )
    identities = set()
    for rate in (10, 20):
        (tmp_path / "pairs.csv").write_text(f"from,to,bandwidth_mbps,rtt_ms\na,b,{rate},5\nb,a,{rate},5\n")
        (point,) = study_points(study_of(text, tmp_path))
        identities.add(point.identity)
    assert len(identities) == 2


@pytest.mark.parametrize("grid", ['"overlays.star.hub" = ["Nowhere"]', '"network.access" = ["1 Gbps"]'])
def test_a_hub_that_is_no_silo_is_named_by_its_table(tmp_path, grid):
    own = "[overlays.star]\nhub = 'Nowhere'\n" if "access" in grid else ""
    study = study_of(f"{BASE}{own}[study.grid]\n{grid}\n", tmp_path)
    with pytest.raises(InputError, match=r"overlays\.star\.hub\(='Nowhere'\) must be one of California"):
        run_study(study, tmp_path / "a.csv", pool=process_pool(1), workers=1)


def test_a_complete_study_is_not_said_to_be_written_again(silosim, file, tmp_path):
    text, table = file(QUICK_GRID), tmp_path / "study.csv"
    assert silosim("study", text, "-o", table, "--workers", 1).ok().err == f"written: {table}\n"
    before = table.stat()
    again = silosim("study", text, "-o", table, "--workers", 1).ok()
    assert again.err == f"complete already, nothing is computed: {table}\n"
    assert (table.stat().st_ino, table.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert silosim("study", text, "-o", table, "--workers", 1, "--force").ok().err == f"written: {table}\n"


def test_one_bad_point_is_a_row_with_its_error(silosim, file, tmp_path):
    text = (
        BASE
        + '[study.grid]\n"network.blocked" = [[], ["Sydney - Virginia"]]\n"overlays.star.hub" = ["Sydney"]\n'
    )
    result = silosim("study", file(text), "-o", tmp_path / "study.csv", "--workers", 1).failed(1)
    rows = read(tmp_path / "study.csv")

    *good, star, ring, matcha = rows
    assert [row["error"] for row in (*good, ring, matcha)] == [""] * 5
    assert star["error"] == "star: the hub Sydney cannot talk both ways with Virginia."
    assert (star["overlay"], star["paper_s"]) == ("star", "")
    assert float(ring["paper_s"]) > 0
    assert result.err.count("silosim: error: ") == 1
    assert star["error"] in result.err


def test_points_beside_a_grid(tmp_path):
    text = BASE + (
        '[study]\npoints = [{ "network.access" = "1 Gbps" }, { "network.core" = "2 Gbps" }]\n'
        "grid = { seed = [1, 2] }\n"
    )
    points = study_points(study_of(text, tmp_path))

    assert [point.varied for point in points] == [
        {"access_bps": 1e9, "seed": 1},
        {"access_bps": 1e9, "seed": 2},
        {"core_bps": 2e9, "seed": 1},
        {"core_bps": 2e9, "seed": 2},
    ]
    assert [point.unsaid for point in points] == [
        *[{"core_bps": "network.core"}] * 2,
        *[{"access_bps": "network.access"}] * 2,
    ]


@pytest.mark.parametrize(
    ("grid", "points", "size"),
    [
        ({}, [], 1),
        ({}, [{"a": 1}], 1),
        ({}, [{"a": 1}, {"a": 2}, {"b": 1}], 3),
        ({"c": [1]}, [], 1),
        ({"c": [1, 2], "d": [1, 2, 3]}, [], 6),
        ({"c": [1, 2], "d": [1, 2, 3]}, [{"a": 1}], 6),
        ({"c": [1, 2], "d": [1, 2, 3]}, [{"a": 1}, {"b": 1}], 12),
    ],
)
def test_the_size_of_a_study_is_the_number_of_its_points(grid, points, size):
    study = StudyConfig(grid=grid, points=points)

    assert (study.size, len(list(study.changes()))) == (size, size)


def test_a_study_has_so_many_points_at_most(monkeypatch, tmp_path):
    monkeypatch.setattr("scenarios.config.study.MOST_POINTS", 4)
    text = BASE + "[study.grid]\nseed = [{}]\n"
    assert study_of(text.format("0, 1, 2, 3"), tmp_path).config.size == 4
    with pytest.raises(InputError, match=r"study\.grid must be <= 4 points, is 5\.$"):
        study_of(text.format("0, 1, 2, 3, 4"), tmp_path)


@pytest.mark.parametrize(
    ("study", "rule"),
    [
        ("", r"study.toml: needs a table \[study\] with a grid or points"),
        ("[study]\nsimulate = true", "study must have a grid or points"),
        ("[study]\ngird = {}", r"\[study\] has no key 'gird'; did you mean 'grid'"),
        ("[study.grid]\nseed = []", r"study.grid.seed\(=\[\]\) must have a value"),
        ("[study.grid]\nseed = [1, 1]", r"study.grid.seed\(=\[1, 1\]\) must not repeat a value"),
        (
            '[study.grid]\n"network.acess" = ["1 Gbps"]',
            r"\[network\] has no key 'acess'.*did you mean 'access'",
        ),
        ('[study.grid]\n"network.access" = ["1 Gbs"]', r"network.access\(='1 Gbs'\)"),
        ('[study.grid]\n"workload.local_steps" = [1, 0]', r"workload.local_steps\(=0\) must be >= 1"),
        ('[study.grid]\n"seed.x" = [1]', "must be a key of a table, but seed is 4"),
        ('[study.grid]\n"seed.0.x" = [1]', "must be a key of a table, but seed is 4"),
        *(
            (
                f'[study]\nsimulate = true\n[study.grid]\n"{key}" = [{value}]',
                rf"study\(='{key}'\) must name a table by its number, but there is no table {number}: the scenario has "
                rf"no \[\[{name}\]\]\.",
            )
            for key, value, number, name in (
                ("simulation.demands.0.scale", "0.5", 0, r"simulation\.demands"),
                ("simulation.failure.2", '{ link = "A - B" }', 2, r"simulation\.failure"),
                ("overlays.0.budget", "1", 0, "overlays"),
            )
        ),
        (
            '[[simulation.demands]]\nfile = "x"\n[study]\nsimulate = true\n'
            '[study.grid]\n"simulation.demands.1.scale" = [1]',
            r"must name a table of \[\[simulation\.demands\]\] by its number from 0; there is one table\.",
        ),
        ('[study]\nrun = ""\ngrid = { seed = [1] }', r"study\.run\(=''\) must not be empty\."),
        ('[study.grid]\n"network.access" = ["1 Gbps", "1000 Mbps"]', "must give different points"),
        ('[study.grid]\n"" = [1]', "must be a key such as network.access"),
        ("[study]\npoints = [{ '.' = 1 }]", "must be a key such as network.access"),
        ("[study]\npoints = [{}]", r"study.points\[0\]\(=\{\}\) must set a key"),
        (
            "[study]\npoints = [{ seed = 1 }]\ngrid = { seed = [1] }",
            r"study.points\[0\].seed must not be in the grid",
        ),
        ("[training]\nrounds = 3\n[study.grid]\nseed = [1]", "training goes with silosim run"),
        (
            '[study.grid]\n"training.rounds" = [5, 10]',
            "study.grid.training.rounds changes nothing that a study computes",
        ),
        ('[study.grid]\n"imported.file" = ["a"]', "imported.file changes nothing"),
        ('[study]\npoints = [{ name = "a" }]', "study.points.name changes nothing"),
        (
            '[study.grid]\n"simulation.rounds" = [5]',
            r"simulation.rounds goes with simulate = true, train = true or run in \[study\]",
        ),
        (
            '[study.grid]\n"workload.local_steps" = [1, 2]\nworkload.local_steps = [7]',
            r"study\(='workload.local_steps'\) must be written once",
        ),
        (
            '[study.grid]\n"network.core" = ["1 Gbps"]\n\'network."core"\' = ["2 Gbps"]',
            "must be written once, with or without quotes",
        ),
        (
            '[study.grid]\n"network.access_at.Sydney" = ["1 Gbps", "1 Gbps up, 1000 Mbps down"]',
            "must give different points",
        ),
    ],
)
def test_a_wrong_study_is_one_line_before_anything_is_computed(tmp_path, study, rule):
    text = "seed = 4\n" + BASE + study
    with pytest.raises(InputError, match=rule) as caught:
        study_points(study_of(text, tmp_path))
    assert "\n" not in str(caught.value)


def test_a_whole_table_of_a_scenario_changes_key_by_key():
    found = _single_keys(
        {
            "network": {"access": "1 Gbps", "access_at": {"St. Gallen": "2 Gbps"}},
            "workload.local_steps": 2,
            "overlays": {"kinds": ["star"]},
            "simulation": {},
            "network.access_at": {"Oslo": "3 Gbps"},
        }
    )
    assert found == {
        'network."access"': "1 Gbps",
        'network."access_at"': {"St. Gallen": "2 Gbps"},
        "workload.local_steps": 2,
        "overlays": {"kinds": ["star"]},
        "network.access_at": {"Oslo": "3 Gbps"},
    }
    assert split_key('network."access_at"."St. Gallen"') == ("network", "access_at", "St. Gallen")
    assert split_key("overlays.0.budget") == ("overlays", 0, "budget")


def test_names_of_columns():
    assert column_of("network.access", "100 Mbps") == ("access_bps", 1e8)
    assert column_of("workload.model_size", "1 MB") == ("model_size_bits", 8e6)
    assert column_of("workload.compute", "25 ms") == ("compute_s", 0.025)
    assert column_of("overlays.matcha.budget", 0.5) == ("overlays_matcha_budget", 0.5)
    assert column_of("simulation.sharing", "equal") == ("sharing", "equal")
    assert column_of("overlays.kinds", ["ring"]) == ("overlays_kinds", '["ring"]')
    assert split_key('network.access_at."St. Gallen".x') == ("network", "access_at", "St. Gallen", "x")


@pytest.mark.slow
def test_another_study_s_rows_are_not_taken(tmp_path):
    run_study(study_of(GRID, tmp_path), tmp_path / "a.csv", pool=threads(), workers=2)
    other = study_of(BASE + "[study.grid]\nseed = [1, 2]\n", tmp_path)
    with pytest.raises(InputError, match="holds the rows of another study; --force replaces it"):
        run_study(other, tmp_path / "a.csv", pool=threads(), workers=2)
    run_study(other, tmp_path / "a.csv", pool=threads(), workers=2, force=True)
    assert len(read(tmp_path / "a.csv")) == 6


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["processes", "mpiexec"])
def test_a_killed_study_goes_on(file, tmp_path, launcher):
    text = BASE.replace("rounds = 30", "rounds = 400") + (
        "[study]\nsimulate = true\n[study.grid]\nseed = [0, 1, 2, 3, 4, 5]\n"
    )
    program = str(Path(sys.executable).with_name("silosim"))
    command = [program, "study", str(file(text)), "-o", str(tmp_path / "s.csv")]
    whole = tmp_path / "whole.csv"
    study = study_of(text, tmp_path)
    run_study(study, whole, pool=threads(1), workers=1)
    if launcher == "mpiexec":
        command = [mpiexec_path(), "-n", "3", *command]
    else:
        command += ["--workers", "2"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL, cwd=os.getcwd())
    partial = tmp_path / "s.csv.partial"
    end = time.monotonic() + 60
    while not (partial.exists() and partial.read_text().count("\n") > 4) and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if partial.exists():
        columns = partial.read_text().splitlines()[0].split(",")
        expected = {p.identity: 3 for p in study_points(study)}
        assert finished_points(whole_lines(partial), str(partial), columns, expected)
    subprocess.run(command, check=True, timeout=100, stderr=subprocess.DEVNULL)
    assert (tmp_path / "s.csv").read_bytes() == whole.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_is_read_with_its_types(tmp_path, ending):
    study = study_of(GRID, tmp_path)
    run_study(study, tmp_path / f"a.{ending}", pool=threads(), workers=2)
    run_study(study, tmp_path / "b.csv", pool=threads(), workers=2)
    table, rows = open_study(tmp_path / f"a.{ending}"), read(tmp_path / "b.csv")

    assert list(table.columns) == list(rows[0])
    assert table.paper_s.tolist() == [float(row["paper_s"]) for row in rows]
    assert table.local_steps.tolist() == [int(row["local_steps"]) for row in rows]
    assert table.arcs.isna().tolist() == [not row["arcs"] for row in rows]
    assert table.error.isna().all()
    assert table.paper_below_load.dtype == "boolean"
    if ending == "parquet":
        # Other readers than pandas see the same columns.
        assert pyarrow.parquet.read_schema(tmp_path / "a.parquet").names == list(rows[0])


def test_what_is_no_table_of_a_study_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"a\.csv: is not the table of a study"):
        open_study(tmp_path / "a.csv")
    with pytest.raises(InputError, match="there is no such file"):
        open_study(tmp_path / "b.csv")
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        run_study(study_of(GRID, tmp_path), tmp_path / "a.xlsx", pool=threads(), workers=2)


@pytest.mark.slow
def test_added_values_are_computed_into_the_table_and_others_need_force(tmp_path, monkeypatch):
    original, computed = sys.modules["scenarios.studies.study"].compute_points, []

    def counted(points, *how, **options):
        computed.extend(points)
        return original(points, *how, **options)

    monkeypatch.setattr("scenarios.studies.study.compute_points", counted)
    few, more = (
        study_of(BASE + f"[study.grid]\nseed = {seeds}\n", tmp_path) for seeds in ([1, 2], [1, 2, 3])
    )
    path = tmp_path / "a.csv"
    for study, count in ((few, 2), (few, 2), (more, 3)):
        assert run_study(study, path, pool=threads(), workers=2).errors == ()
        assert len(computed) == count
    assert len(read(path)) == 9
    with pytest.raises(InputError, match="holds the rows of another study; --force replaces it"):
        run_study(few, path, pool=threads(), workers=2)
    (tmp_path / "a.csv.partial").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"partial: holds the rows of another study; --force replaces it"):
        run_study(more, path, pool=threads(), workers=2)
    run_study(few, path, pool=threads(), workers=2, force=True)
    assert len(read(path)) == 6
    assert not (tmp_path / "a.csv.partial").exists()


def test_keys_without_quotes_are_the_same_as_with_them(tmp_path):
    quoted = study_of(
        BASE
        + '[study.grid]\n"network.access" = ["1 Gbps"]\n"network.access_at.Sydney" = ["1 Mbps", "2 Mbps"]\n'
        + '[study]\nsimulate = true\n[[study.points]]\n"simulation.rounds" = 10\n"overlays.star.hub" = "Sydney"\n',
        tmp_path,
    )
    bare = study_of(
        BASE
        + '[study.grid]\nnetwork.access = ["1 Gbps"]\nnetwork.access_at.Sydney = ["1 Mbps", "2 Mbps"]\n'
        + '[study]\nsimulate = true\n[[study.points]]\nsimulation.rounds = 10\noverlays.star.hub = "Sydney"\n',
        tmp_path,
    )
    assert [p.identity for p in study_points(bare)] == [p.identity for p in study_points(quoted)]
    # What the scenario states beside these keys stays.
    assert study_points(bare)[0].scenario.overlays.kinds == ("star", "ring", "matcha")


def test_values_of_one_key_have_one_column(tmp_path):
    study = study_of(BASE + '[study.grid]\n"network.core" = ["stated", "1 Gbps"]\n', tmp_path)
    assert [point.varied for point in study_points(study)] == [{"core": "stated"}, {"core": "1 Gbps"}]


def test_what_varies_is_in_its_column_whatever_follows_from_it(tmp_path):
    text = BASE.replace('["star", "ring", "matcha"]', '["ring"]') + (
        '[study.grid]\n"network.access_up" = ["1 Gbps", "2 Gbps"]\n"workload.compute" = ["10 ms", "3 s"]\n'
        '"network.access_at.Sydney" = ["1 Mbps"]\n"workload.compute_at.Sydney" = ["1 ms"]\n'
    )
    path = tmp_path / "a.csv"
    assert run_study(study_of(text, tmp_path), path, pool=process_pool(1), workers=1).errors == ()
    rows = read(path)

    assert [float(row["access_up_bps"]) for row in rows] == [1e9, 1e9, 2e9, 2e9]
    assert [float(row["compute_s"]) for row in rows] == [0.01, 3, 0.01, 3]


def test_settings_of_a_simulation_do_not_hide_what_came_of_them(tmp_path):
    text = BASE.replace('["star", "ring", "matcha"]', '["ring"]') + (
        '[study]\nsimulate = true\n[study.grid]\n"simulation.engine" = ["auto", "simpy"]\n"simulation.rounds" = [20]\n'
    )
    path = tmp_path / "a.csv"
    assert run_study(study_of(text, tmp_path), path, pool=process_pool(1), workers=1).errors == ()
    asked = [(row["simulation_engine"], row["engine"]) for row in read(path)]
    assert asked == [("auto", "simpy"), ("simpy", "simpy")]


def test_an_overlays_own_seed_is_one_of_its_options(tmp_path):
    text = BASE.replace(
        '[overlays]\nkinds = ["star", "ring", "matcha"]', '[[overlays]]\nkind = "matcha"\nseed = 7'
    )
    path = tmp_path / "a.csv"
    study = study_of(text + "[study.grid]\nseed = [1, 2]\n", tmp_path)
    assert run_study(study, path, pool=process_pool(1), workers=1).errors == ()
    assert [(row["seed"], json.loads(row["options"])) for row in read(path)] == [
        ("1", {"seed": 7}),
        ("2", {"seed": 7}),
    ]


PAIRS = "from,to,bandwidth_mbps,ms\na,b,100,1\nb,a,100,1\nb,c,100,1\nc,b,100,1\na,c,100,1\nc,a,100,1\n"


@pytest.mark.parametrize("kind", ["tsv folder", "toml", "file"])
def test_a_changed_file_makes_other_points(tmp_path, kind):
    (tmp_path / "net").mkdir()
    table = tmp_path / "net" / ("pairs.tsv" if kind == "tsv folder" else "pairs.csv")
    (tmp_path / "net.toml").write_text('pairs = "net/pairs.csv"\n')
    underlay = {"tsv folder": "net", "toml": "net.toml", "file": "net/pairs.csv"}[kind]
    text = BASE.replace("gaia", underlay).replace('"star", ', "") + "[study.grid]\nseed = [1]\n"

    def identity(mbps):
        pairs = PAIRS.replace("100", mbps)
        table.write_text(pairs.replace(",", "\t") if kind == "tsv folder" else pairs)
        return study_points(study_of(text, tmp_path))[0].identity

    assert identity("100") == identity("100") != identity("1")


def test_where_a_file_lies_is_no_input(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pairs.csv").write_text(PAIRS)
    text = BASE.replace("gaia", "pairs.csv").replace('"star", ', "") + "[study.grid]\nseed = [1]\n"
    identities = []
    for here, folder in ((tmp_path, Path("sub")), (tmp_path / "sub", Path()), (tmp_path, tmp_path / "sub")):
        monkeypatch.chdir(here)
        study = parse_study(text, source="study.toml", folder=folder)
        identities += [point.identity for point in study_points(study)]
    assert len(set(identities)) == 1


def test_points_with_an_error_are_computed_again(tmp_path, monkeypatch):
    study, path = study_of(QUICK_GRID, tmp_path), tmp_path / "a.csv"
    with monkeypatch.context() as broken:
        broken.setattr(
            "scenarios.studies.study_points.build_network",
            lambda _config: (_ for _ in ()).throw(MachineError("needs a package")),
        )
        errors = run_study(study, path, pool=process_pool(1), workers=1).errors
    assert len(errors) == 8
    assert run_study(study, path, pool=process_pool(1), workers=1).errors == ()
    assert all(row["paper_s"] for row in read(path))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_complete_table_is_put_into_the_order_of_the_study(tmp_path, monkeypatch, ending):
    path = tmp_path / f"a.{ending}"
    study = study_of(BASE + "[study.grid]\nseed = [0, 7]\n", tmp_path)
    run_study(study, path, pool=process_pool(1), workers=1)
    before = open_study(path)
    turned = study_of(BASE + "[study.grid]\nseed = [7, 0]\n", tmp_path)
    grown = study_of(BASE + "[study.grid]\nseed = [7, 3, 0]\n", tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr("scenarios.studies.study.compute_points", None)
        run_study(turned, path, pool=process_pool(1), workers=1)
    assert open_study(path).seed.tolist() == [7, 7, 7, 0, 0, 0]
    assert sorted(open_study(path).paper_s) == sorted(before.paper_s)
    run_study(grown, path, pool=process_pool(1), workers=1)
    assert open_study(path).seed.unique().tolist() == [7, 3, 0]


def test_columns_without_a_value_hold_numbers(tmp_path):
    study = study_of(BASE + '[study.grid]\n"network.access_at.Sydney" = ["1 Mbps"]\n', tmp_path)
    run_study(study, tmp_path / "a.csv", pool=process_pool(1), workers=1)
    table = open_study(tmp_path / "a.csv")
    assert table.access_up_bps.isna().all()
    assert (table.access_up_bps / table.paper_s).isna().all()


@pytest.mark.parametrize(
    ("network", "workload", "ranges"),
    [
        ('core = "1 Gbps"', "", {}),
        (
            'core = "1 Gbps"\naccess_at = { Sydney = "1 Mbps up" }',
            "",
            {"access_up_bps": [1e6, 1e10]},
        ),
        (
            'core = "1 Gbps"\naccess_hub = "20 Gbps"',
            "",
            {"access_up_bps": [1e10, 2e10], "access_down_bps": [1e10, 2e10]},
        ),
        ('core = "1 Gbps"', 'compute_at = { Sydney = "0.1 s" }', {"compute_s": [0.0046, 0.1]}),
        ('core = "stated"', "", {"core_bps": [100e6, 1.5e9]}),
    ],
)
def test_an_input_in_which_silos_differ_has_its_ends_in_a_column(tmp_path, network, workload, ranges):
    text = BASE.replace('"gaia"', f'"gaia"\n{network}').replace('"femnist"', f'"femnist"\n{workload}')
    # Three steps, so that the time of one is not that of all divided by their number.
    study = study_of(text + '[study.grid]\n"workload.local_steps" = [3]\n', tmp_path)
    assert run_study(study, tmp_path / "a.csv", pool=process_pool(1), workers=1).errors == ()
    rows = read(tmp_path / "a.csv")

    assert {row["ranges"] for row in rows} == {json.dumps(ranges) if ranges else ""}
    inputs = ("access_up_bps", "access_down_bps", "core_bps", "compute_s")
    assert {name for name in inputs if not rows[0][name]} == ranges.keys()
    assert open_study(tmp_path / "a.csv").ranges.dtype == "string"


def rows_of(points, tmp_path, base=BASE):
    path = tmp_path / "points.csv"
    study = study_of(f"{base}[study]\nsimulate = true\npoints = [{', '.join(points)}]\n", tmp_path)
    assert run_study(study, path, pool=process_pool(1), workers=1, force=True).errors == ()
    return read(path)


@pytest.mark.slow
def test_a_key_that_a_point_leaves_to_the_scenario_has_the_scenarios_value(tmp_path):
    base = BASE.replace('"gaia"', '"gaia"\naccess = "10 Gbps"\ncore = "stated"').replace(
        '"star", "ring", ', ""
    )
    left = [
        '{"network.access" = "1 Gbps"}',
        '{"network.core" = "2 Gbps"}',
        '{"overlays.matcha.budget" = 0.2}',
        '{"simulation.sharing" = "equal"}',
    ]
    keys = [point[1:-1] for point in left]
    own = [
        '"network.access" = "10 Gbps"',
        '"network.core" = "stated"',
        '"overlays.matcha.budget" = 0.5',
        '"simulation.sharing" = "maxmin"',
    ]
    stated = [
        "{" + ", ".join(key if place == number else own[place] for place, key in enumerate(keys)) + "}"
        for number in range(len(keys))
    ]
    without = ("point", "options")  # that a default is stated is another input

    assert [
        {name: cell for name, cell in row.items() if name not in without}
        for row in rows_of(left, tmp_path, base)
    ] == [
        {name: cell for name, cell in row.items() if name not in without}
        for row in rows_of(stated, tmp_path, base)
    ]


def test_a_key_of_which_the_scenario_says_nothing_has_the_value_of_the_network(tmp_path):
    rows = rows_of(
        [
            '{"network.access" = "1 Gbps"}',
            '{"network.access_at.Sydney" = "1 Mbps"}',
            '{"workload.model_size" = "1 Mbit"}',
            '{"workload.compute_at.Sydney" = "1 s"}',
            '{"network.core" = "2 Gbps"}',
            '{"network.access_up" = "5 Gbps"}',
            '{"network.blocked" = ["Sydney - Seoul"]}',
        ],
        tmp_path,
        BASE.replace('"star", "ring", "matcha"', '"mst"').replace("rounds = 30", "rounds = 1"),
    )
    columns = (
        "access_bps",
        "access_at_Sydney_bps",
        "model_size_bits",
        "compute_at_Sydney_s",
        "access_up_bps",
    )

    assert [tuple(row[column] and float(row[column]) for column in columns) for row in rows] == [
        (1e9, 1e9, 38.624e6, 0.0046, 1e9),
        ("", 1e6, 38.624e6, 0.0046, ""),
        (1e10, 1e10, 1e6, 0.0046, 1e10),
        (1e10, 1e10, 38.624e6, 1.0, 1e10),
        (1e10, 1e10, 38.624e6, 0.0046, 1e10),
        ("", "", 38.624e6, 0.0046, 5e9),
        (1e10, 1e10, 38.624e6, 0.0046, 1e10),
    ]
    assert [row["blocked"] for row in rows] == [*[""] * 6, '["Sydney - Seoul"]']


def test_a_capacity_beside_one_of_two_directions_is_a_text_like_it(tmp_path):
    rows = rows_of(
        [
            '{"network.access_at.Sydney" = "100 Mbps up, 1 Gbps down"}',
            "{seed = 3}",
            '{"network.access_up" = "5 Gbps"}',
        ],
        tmp_path,
        BASE.replace('"star", "ring", "matcha"', '"mst"'),
    )
    assert [row["access_at_Sydney"] for row in rows] == [
        "100 Mbps up, 1 Gbps down",
        "10 Gbps",
        "5 Gbps up, 10 Gbps down",
    ]


def test_silos_named_by_numbers_and_the_hub_have_the_capacity_of_the_network(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "source,target,bandwidth_mbps,latency_ms\n"
        + "".join(f"{a},{b},10,1\n" for a in (1, 2, 3) for b in (1, 2, 3) if a != b)
    )
    base = BASE.replace("gaia", "pairs.csv").replace('"star", "ring", "matcha"', '"star"')
    base = base.replace("[workload]", 'access = "1 Gbps"\n[workload]')
    rows = rows_of(
        [
            '{"network.access_at.1" = "2 Gbps"}',
            '{"workload.compute_at.2" = "1 s"}',
            '{"network.access_hub" = "4 Gbps"}',
        ],
        tmp_path,
        base,
    )
    columns = ("access_at_1_bps", "compute_at_2_s", "access_hub_bps")
    hub = rows[0]["hub"]

    assert [tuple(float(row[column]) for column in columns) for row in rows] == [
        (2e9, 0.0046, 2e9 if hub == "1" else 1e9),
        (1e9, 1.0, 1e9),
        (4e9 if hub == "1" else 1e9, 0.0046, 4e9),
    ]


def test_a_name_and_a_simulation_that_is_not_asked_for_are_no_inputs(tmp_path):
    grid = "[study.grid]\nseed = [1, 2]\n"
    plain = study_points(study_of(BASE + grid, tmp_path))
    other = 'name = "other"\n' + BASE.replace("rounds = 30", "rounds = 7") + grid
    simulated = [
        study_points(
            study_of(text.replace("[study.grid]", "[study]\nsimulate = true\n[study.grid]"), tmp_path)
        )
        for text in (BASE + grid, other)
    ]

    assert [point.identity for point in study_points(study_of(other, tmp_path))] == [
        p.identity for p in plain
    ]
    assert simulated[0][0].identity != simulated[1][0].identity


def test_points_with_errors_are_replaced_when_a_file_that_they_read_is_mended(tmp_path):
    arcs, path = tmp_path / "arcs.csv", tmp_path / "a.csv"
    text = BASE[: BASE.index("[overlays]")] + (
        '[[overlays]]\narcs = "arcs.csv"\n[study.grid]\nseed = [1, 2]\n'
    )
    arcs.write_text("source,target\nSydney,Tokyo\nTokyo,Sydney\n")  # the others hear nobody
    study = study_of(text, tmp_path)
    assert len(run_study(study, path, pool=process_pool(1), workers=1).errors) == 2

    labels = [*load_underlay("gaia").labels]
    arcs.write_text(
        "source,target\n"
        + "".join(f"{a},{b}\n" for a, b in zip(labels, labels[1:] + labels[:1], strict=True))
    )
    assert run_study(study, path, pool=process_pool(1), workers=1).errors == ()
    assert [row["error"] for row in read(path)] == ["", ""]


def test_where_all_points_fail_they_are_named_although_there_is_no_figure(silosim, file, tmp_path):
    text = BASE.replace('"star", "ring", "matcha"', '"star"').replace(
        '"gaia"', '"gaia"\nblocked = ["Sydney - Virginia"]'
    )
    text += '[study.grid]\n"overlays.star.hub" = ["Sydney", "Virginia"]\n[study.figure]\ny = "paper_s"\n'
    result = silosim("study", file(text), "-o", tmp_path / "a.csv", "--workers", 1).failed(1)

    assert result.err.count("cannot talk both ways") == 2
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("y", ["paper_below_load", "serialized_s"])
def test_a_figure_of_what_has_no_numbers_is_refused_before_anything_is_computed(silosim, file, tmp_path, y):
    text = BASE.replace('"star", "ring", "matcha"', '"matcha"')
    text += f'[study.grid]\nseed = [1, 2]\n[study.figure]\nx = "seed"\ny = "{y}"\n'
    silosim("study", file(text), "-o", tmp_path / "a.csv", "--workers", 1).failed(2)
    assert not (tmp_path / "a.csv").exists()


def test_a_file_is_called_as_the_study_calls_it_wherever_it_lies(tmp_path, monkeypatch):
    (tmp_path / "sub" / "nets").mkdir(parents=True)
    for name in ("own.csv", "other.csv"):
        (tmp_path / "sub" / "nets" / name).write_text(PAIRS)
    text = BASE.replace("gaia", "nets/own.csv") + (
        '[study]\npoints = [{"network.underlay" = "nets/other.csv"}, {"workload.local_steps" = 5}]\n'
    )
    for folder in (tmp_path / "sub", Path("sub")):
        monkeypatch.chdir(tmp_path)
        points = study_points(parse_study(text, source="study.toml", folder=folder))
        assert [point.varied for point in points] == [
            {"underlay": "nets/other.csv", "local_steps": 1},
            {"underlay": "nets/own.csv", "local_steps": 5},
        ]


def test_a_value_of_the_scenario_without_a_unit_makes_a_column_of_texts(tmp_path):
    base = BASE.replace('"gaia"', '"gaia"\ncore = "stated"')
    study = study_of(base + '[study]\npoints = [{"network.core" = "2 Gbps"}, {seed = 3}]\n', tmp_path)

    assert [point.varied for point in study_points(study)] == [
        {"core": "2 Gbps", "seed": 0},
        {"core": "stated", "seed": 3},
    ]


def test_the_gap_of_a_randomized_overlay_is_that_of_design(silosim, tmp_path):
    run_study(
        study_of(BASE + "[study.grid]\nseed = [1]\n", tmp_path),
        tmp_path / "a.csv",
        pool=process_pool(1),
        workers=1,
    )
    shown = json.loads(
        silosim("design", "gaia", "--kind", "matcha", "--workload", "femnist", "--json").ok().out
    )
    gap = {row["overlay"]: row["spectral_gap"] for row in read(tmp_path / "a.csv")}["matcha"]
    assert 0 < float(gap) == shown["rows"][0]["spectral_gap"]


@pytest.mark.parametrize(
    ("grid", "rule"),
    [
        ('"network.access_at.Sidney" = ["1 Mbps"]', "network.access_at silo(='Sidney')"),
        ('"network.underlay" = ["gaia", "gaya"]', "underlay(='gaya')"),
        ('"network.silo_at" = [["Sydney", "Tokio"]]', "network.silo_at(='Tokio')"),
        ('"workload.compute_at.Sidney" = ["1 ms"]', "compute_at silo(='Sidney')"),
        ('"overlays.star.hub" = ["Sydney", "Sidney"]', "hub(='Sidney')"),
        ('"overlays.star.hub" = [11]', "hub(=11)"),
        ('overlays = [[{ arcs = "none.csv" }]]', "none.csv: there is no such file"),
        ('overlays = [[{ weights = "none.npy" }]]', "none.npy: there is no such file"),
        ('overlays = [[{ kind = "ring", consensus = "none.csv" }]]', "none.csv: there is no such file"),
        ('"simulation.compute.trace" = ["none.csv"]', "none.csv: cannot be read"),
        (
            '"simulation.failure" = [[{ link = "Sydney - Sidney", from = "0 s", until = "1 s" }]]',
            "link(='Sydney - Sidney')",
        ),
    ],
)
def test_a_network_that_cannot_be_is_an_error_before_anything_is_computed(silosim, tmp_path, grid, rule):
    file = tmp_path / "study.toml"
    base = BASE[: BASE.index("[overlays]")] if grid.startswith("overlays =") else BASE
    file.write_text(base + f"[study]\nsimulate = {str('simulation' in grid).lower()}\n[study.grid]\n{grid}\n")
    result = silosim("study", file, "-o", tmp_path / "a.csv", "--workers", 1).failed(2)
    assert rule in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_what_does_not_vary_is_designed_once_in_each_study(tmp_path, monkeypatch):
    text = BASE.replace('["star", "ring", "matcha"]', '["star", "ring"]').replace(
        "rounds = 30", "rounds = 5"
    ) + (
        '[study]\nsimulate = true\n[study.grid]\nseed = [1, 2, 3, 4, 5]\n"simulation.sharing" = ["maxmin", "equal"]\n'
    )
    study, designed = study_of(text, tmp_path), []
    original = study_points_module.design_any

    def counted(config, *given, **options):
        designed.append(config.kind)
        return original(config, *given, **options)

    monkeypatch.setattr(study_points_module, "design_any", counted)
    for path in (tmp_path / "a.csv", tmp_path / "b.csv"):
        assert run_study(study, path, pool=process_pool(1), workers=1).errors == ()
    # Whatever a worker takes at a time; and another study looks at its files anew.
    assert designed == ["star", "ring"] * 2


@pytest.mark.parametrize(
    ("key", "value", "column"),
    [
        ("simulation.rounds", 5, ("simulation_rounds", 5)),
        ("simulation.engine", "simpy", ("simulation_engine", "simpy")),
        ("simulation.report", True, ("report", True)),
        ("seed", 3, ("seed", 3)),
        ("network", {"a": 1}, ("network", '{"a": 1}')),
        ("network.access", "stated", ("access", "stated")),
        ("network.access_at.Zürich", "1 Gbps", ("access_at_Zürich_bps", 1e9)),
        ("workload.compute", "0 s", ("compute_s", 0.0)),
        ("overlays.0.hub", ["Genève"], ("overlays_0_hub", '["Genève"]')),
    ],
)
def test_the_column_of_a_key(key, value, column):
    assert column_of(key, value) == column


def test_the_unit_of_a_column_is_that_of_all_its_values():
    assert shared_ending(["1 MB", "0 bit"]) == "_bits"
    assert [shared_ending(values) for values in (["1 MB", "1 s"], ["1 s", 5], [5])] == ["", "", ""]
    assert column_of("network.access", "1 Gbps", "") == ("access", "1 Gbps")


@pytest.mark.parametrize(
    ("tables", "there"), [([], "is none"), ([{}], "is one table"), ([{}, {}], "are 2 tables")]
)
@pytest.mark.parametrize("place", ["2", "first"])
def test_a_table_of_a_list_is_named_by_its_number(tables, there, place):
    with pytest.raises(InputError) as caught:
        _changed({"overlays": tables}, split_key(f"overlays.{place}.budget"), 1, f"overlays.{place}.budget")
    assert caught.value.rule == f"must name a table of [[overlays]] by its number from 0; there {there}."


def test_one_table_of_a_list_changes_and_the_others_stay():
    tables = {"overlays": [{"a": 1}, {"a": 2, "b": 3}, {"a": 4}], "seed": 5}
    changed = _changed(tables, ("overlays", 1, "a"), 9, "overlays.1.a")
    assert changed == {"overlays": [{"a": 1}, {"a": 9, "b": 3}, {"a": 4}], "seed": 5}
    assert tables["overlays"][1] == {"a": 2, "b": 3}
    assert _changed(tables, ("overlays", 0), {"c": 1}, "overlays.0")["overlays"] == [
        {"c": 1},
        *tables["overlays"][1:],
    ]
    assert _changed({}, ("network", "access_at", "A"), "x", "k") == {"network": {"access_at": {"A": "x"}}}


def test_parts_of_a_key_are_texts_numbers_of_tables_and_at_most_32():
    assert split_key('a.12."34".b c."d.e"') == ("a", 12, "34", "b c", "d.e")
    assert split_key("1234567890.1") == ("1234567890", 1)
    assert split_key('a."".b') == ("a", "", "b")
    assert len(split_key(".".join("a" * 32))) == 32
    with pytest.raises(InputError, match=r"must have at most 32 parts\.$"):
        split_key(".".join("a" * 33))


def test_the_identity_of_a_point_is_that_of_its_inputs_and_of_older_tables():
    """Rows of an interrupted study are found again by it, also by a later version."""
    found = identity({"a": 1, "b": "ü"}, [("f", "x")])
    assert found == identity({"b": "ü", "a": 1}, [("f", "x")]) == "ec31cc94dc27ebb4"
    others = [
        ({"a": 2, "b": "ü"}, [("f", "x")]),
        ({"a": 1, "b": "ü"}, [("f", "y")]),
        ({"a": 1, "b": "ü"}, []),
    ]
    assert len({found, *(identity(*other) for other in others)}) == 4


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"run": "r.h5", "train": True}, "study.train(=True) must not be given with run."),
        (
            {"target_accuracy": 0.9},
            "study.target_accuracy(=0.9) goes with run, the file of a run that is replayed.",
        ),
        ({"points": [{}]}, "study.points[0](={}) must set a key."),
        ({"points": [{"a": 1}, {}]}, "study.points[1](={}) must set a key."),
        ({"grid": {"a": [1], "b": []}}, "study.grid.b(=[]) must have a value."),
        ({"grid": {"a": [{"x": 1, "y": 2}, {"y": 2, "x": 1}]}}, "must not repeat a value."),
    ],
)
def test_what_a_study_cannot_be(given, rule):
    with pytest.raises(InputError) as caught:
        StudyConfig(**given)
    assert str(caught.value).endswith(rule)


def test_all_values_of_a_key_and_the_keys_in_order():
    study = StudyConfig(grid={"b": [1, 2]}, points=[{"c": 3, "a": 4}, {"a": 5}])
    assert study.keys == ("b", "c", "a")
    assert [study.values(key) for key in ("b", "c", "a", "d")] == [[1, 2], [3], [4, 5], []]
    assert list(study.changes()) == [
        {"c": 3, "a": 4, "b": 1},
        {"c": 3, "a": 4, "b": 2},
        {"a": 5, "b": 1},
        {"a": 5, "b": 2},
    ]
    assert StudyConfig(run="r.h5", target_accuracy=0.9, grid={"a": [1]}).target_accuracy == 0.9
