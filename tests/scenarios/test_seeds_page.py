"""The page of runs with several seeds: its sentences, its numbers, and from which files it is made."""

import hashlib
import html
import math
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from chromium import find_chromium, open_page
from edited_run import edited
from page_reader import PageReader, table_cells
from scipy import stats

import silosim as package
from scenarios.config.quantities import format_mean
from scenarios.config.scenario import recorded_scenario
from scenarios.pages.answer import Compared
from scenarios.pages.compared import training_lines
from scenarios.pages.seeds_answer import seeds_answer, seeds_question
from scenarios.pages.seeds_page import _reproduce, _single_runs, _value
from scenarios.report.seeds_spread import spread_of
from scenarios.report.seeds_table import is_seeds_table, seeds_table
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from scenarios.runfile.reader import read_run
from scenarios.studies.run_seeds import SeedFiles, seeds_summary

NEVER = (0.1, 0.2, 0.3, 0.4)


def reaching(row):
    """Accuracies of four rows that reach 0.5 in one of them."""
    return tuple(0.5 if at >= row else 0.1 for at in range(4))


def answered(run_file, accuracies, target=0.5):
    """Sentences of runs whose four rows, a second apart, have these accuracies, by overlay and seed."""
    record = read_run(run_file)
    times_s = np.arange(4.0)

    def overlay(kind, values):
        (found,) = [each for each in record.overlays if each.kind == kind]
        history = found.history | {"test_accuracy": np.array(values)}
        return replace(found, history=history, wall_clock_s=times_s)

    seeds = range(len(next(iter(accuracies.values()))))
    runs = {
        seed: replace(record, overlays=tuple(overlay(kind, each[seed]) for kind, each in accuracies.items()))
        for seed in seeds
    }
    table = seeds_table(runs, "", target)
    compared = Compared(
        rows=table.rows, hubs=["star"], place="gaia at 1 Gbps", target_accuracy=target, is_trained=True
    )
    return " ".join(seeds_answer(compared, table)), seeds_question(compared, len(seeds))


def test_the_first_to_the_target_is_told_with_intervals_and_the_difference_of_each_seed(run_file):
    ring, star = [reaching(1), reaching(2), reaching(3)], [reaching(2), reaching(3), reaching(3)]
    said, asked = answered(run_file, {"star": star, "ring": ring})
    student = stats.t.ppf(0.975, 2)
    half_s = student * stats.sem([1.0, 2.0, 3.0])
    apart_s = student * stats.sem([1.0, 1.0, 0.0])

    assert asked == "Which overlay trains fastest on gaia at 1 Gbps, over 3 seeds?"
    assert said.startswith(
        "On gaia at 1 Gbps, 3 seeds do not tell the ring and the STAR apart: the ring is the first in 3 of 3, the STAR "
        "in 1; more may (--seeds 5). In the mean the ring reaches a test accuracy of 50 % after "
        f"2.000 s +- {half_s:.2g} s, with its 95 % interval, and the STAR after 2.667 s"
    )
    assert f": 666.7 ms +- {apart_s:.2g} s later over the same seeds, an interval that holds 0." in said
    assert "In the end the STAR and the ring have the same test accuracy in each seed, 50.00 +- 0 %." in said


def test_differences_that_seeds_tell_apart_are_so_called(run_file):
    said, _ = answered(run_file, {"star": [reaching(2)] * 2, "ring": [reaching(1)] * 2})
    assert said.startswith("On gaia at 1 Gbps, the ring reaches a test accuracy of 50 % first: after 1.000 s")
    assert (
        "Over the same seeds the STAR is 1.000 s +- 0 s later. By seeds, the ring is the first in 2 of 2."
        in said
    )
    assert "do not tell" not in said


def test_enough_seeds_ask_for_no_more(run_file):
    said, _ = answered(run_file, {"star": [reaching(i % 3) for i in range(5)], "ring": [reaching(1)] * 5})
    assert said.startswith(
        "On gaia at 1 Gbps, 5 seeds do not tell the STAR and the ring apart: the STAR is the first in 4"
    )
    assert "--seeds" not in said


def test_equal_times_are_not_told_apart(run_file):
    said, _ = answered(run_file, {"star": [reaching(1)] * 2, "ring": [reaching(1)] * 2})
    assert (
        "2 seeds do not tell the STAR and the ring apart: the STAR is the first in 2 of 2, the ring in 2"
        in said
    )
    assert (
        "In the mean the STAR reaches a test accuracy of 50 % after 1.000 s +- 0 s, with its 95 % interval, and the "
        "ring after 1.000 s +- 0 s." in said
    )
    assert "holds 0" not in said


def test_accuracies_that_seeds_do_not_tell_apart(run_file):
    ring, star = [NEVER, (0.1, 0.1, 0.1, 0.3)], [(0.1, 0.1, 0.1, 0.2), NEVER]
    said, _ = answered(run_file, {"star": star, "ring": ring}, target=0.9)
    apart = [20.0, -10.0]
    half = stats.t.ppf(0.975, 1) * stats.sem(apart)
    assert "In the end 2 seeds do not tell the ring and the STAR apart by the test accuracy, 35.00 +-" in said
    assert f"5.000 +- {half:.1f} percentage points lower over the same seeds; more may (--seeds 5)." in said


def test_a_target_that_not_all_runs_reach_has_counts_and_the_best_accuracy(run_file):
    said, _ = answered(run_file, {"star": [NEVER] * 3, "ring": [reaching(1), NEVER, NEVER]})
    assert said.startswith(
        "On gaia at 1 Gbps, a test accuracy of 50 % is not reached by any overlay in all runs: the ring in 1 of 3; "
        "the STAR in none."
    )
    assert "first" not in said
    half = stats.t.ppf(0.975, 2) * stats.sem([50.0, 40.0, 40.0])
    assert (
        "In the end 3 seeds do not tell the ring and the STAR apart by the test accuracy, "
        f"43.33 +- {half:.2g} % and 40.00 +- 0 %, 3.333 +- " in said
    )
    some, _ = answered(run_file, {"star": [NEVER, reaching(0)], "ring": [reaching(1)] * 2})
    assert "the ring reaches a test accuracy of 50 % first: after 1.000 s +- 0 s" in some
    assert "Not all runs of the others reach it: the STAR in 1 of 2." in some
    none, _ = answered(run_file, {"star": [NEVER] * 2, "ring": [NEVER] * 2})
    assert none.startswith("On gaia at 1 Gbps, no overlay reaches a test accuracy of 50 % in any run.")


def test_a_single_overlay_or_seed_has_no_comparison(run_file):
    said, asked = answered(run_file, {"ring": [reaching(1)]})
    assert asked == "How well does the ring train on gaia at 1 Gbps, over 1 seed?"
    assert said == (
        "On gaia at 1 Gbps, the ring reaches a test accuracy of 50 %: after 1.000 s. In the end the ring has a test "
        "accuracy of 50.00 %."
    )
    said, _ = answered(run_file, {"ring": [reaching(1), NEVER]})
    assert said.startswith("On gaia at 1 Gbps, 1 of 2 of the runs reach a test accuracy of 50 %.")
    said, _ = answered(run_file, {"ring": [NEVER, NEVER]})
    assert said.startswith("On gaia at 1 Gbps, the ring does not reach a test accuracy of 50 % in any run.")


def test_half_widths_of_rounding_errors_are_zero():
    assert format_mean(0.05924, 9.6e-18) == "0.05924 +- 0"
    assert format_mean(0.9417, 0.0641) == "0.9417 +- 0.064"
    assert format_mean(2.0, None) == "2.000"


def test_means_and_ends_over_seeds(run_file):
    (overlay, _) = read_run(run_file).overlays
    other = replace(
        overlay,
        history={name: 3 * values for name, values in overlay.history.items()},
        wall_clock_s=overlay.wall_clock_s + 2,
    )
    spread = spread_of([overlay, other])
    loss = overlay.history["train_loss"]
    np.testing.assert_allclose(spread.mean.history["train_loss"], 2 * loss, rtol=1e-15)
    np.testing.assert_allclose(spread.mean.wall_clock_s, overlay.wall_clock_s + 1, rtol=1e-15)
    assert np.array_equal(spread.ends[0]["train_loss"], loss)
    assert np.array_equal(spread.ends[1]["train_loss"], 3 * loss)
    alone = spread_of([overlay])
    for name, values in overlay.history.items():
        assert np.array_equal(alone.mean.history[name], values), name


# Parts of the page, on rows made by hand


def run_of(seed, overlay, **changes):
    given = {
        "simulated_s": 0.25,
        "train_loss": None,
        "test_accuracy": None,
        "rounds_to_target": None,
        "time_to_target_s": None,
    }
    return {"seed": seed, "overlay": overlay, **given, **changes}


def files_of(folder, *seeds):
    return SimpleNamespace(
        runs={seed: folder / f"my run-seed-{seed}.h5" for seed in seeds}, table=folder / "my run-seeds.csv"
    )


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("test_accuracy", 0.98765, "98.77 %"),
        ("simulated_s", 0.25, "250 ms"),
        ("time_to_target_s", 600.0, "10 min"),
        ("train_loss", 0.123456, "0.1235"),
        ("rounds_to_target", 12.0, "12"),
    ],
)
def test_values_of_single_runs_have_their_units(name, value, text):
    assert _value(name, value) == text


def test_single_runs_have_the_columns_that_any_of_them_has(tmp_path, monkeypatch):
    runs = [run_of(3, "<a>", test_accuracy=0.5), run_of(3, "b"), run_of(10, "<a>", rounds_to_target=2.0)]
    table = Table(caption="", columns=(), rows=[], further={"runs": runs})
    page = _single_runs(files_of(tmp_path, 3, 10), table)
    heads = re.findall('<th scope="col"( class="number")?>(.*?)</th>', page)
    assert heads == [
        *((' class="number"', "seed"), ("", "overlay"), (' class="number"', "cycle time")),
        *((' class="number"', "accuracy"), (' class="number"', "rounds"), ("", "file")),
    ]
    assert table_cells(page) == [
        ["3", "<a>", "250 ms", "50 %", "-", "my run-seed-3.h5"],
        ["3", "b", "250 ms", "-", "-", "my run-seed-3.h5"],
        ["10", "<a>", "250 ms", "-", "2", "my run-seed-10.h5"],
    ]
    assert "silosim report 'my run-seed-3.h5' makes the page" in html.unescape(page)
    monkeypatch.setattr("scenarios.pages.seeds_page._MOST_RUNS", 2)
    assert "(the first 2 of 3)" in _single_runs(files_of(tmp_path, 3, 10), table)


@pytest.mark.parametrize(
    ("seeds", "stated"), [((3, 4, 5), "3"), ((3, 5), "3,5"), ((7,), "1"), ((5, 4), "5,4"), ((0, 1), "2")]
)
def test_the_command_of_seeds_counts_those_that_follow_each_other(tmp_path, seeds, stated):
    files = files_of(tmp_path, *seeds)
    files.table.write_text("table")
    for seed, path in files.runs.items():
        with h5py.File(path, "w") as file:
            file.attrs["seed"] = seed
    page = html.unescape(_reproduce(files, SimpleNamespace(scenario="")))
    assert f"silosim run scenario.toml -o 'my run.h5' --seeds {stated} --report\n" in page
    assert "silosim report 'my run-seeds.csv'</pre>" in page
    items = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert items["seed"] == ", ".join(map(str, seeds))
    assert items["silosim version"] == "not stated"
    assert items[f"scenario of seed {seeds[0]}, SHA-256"] == hashlib.sha256(b"").hexdigest()
    assert items["my run-seeds.csv, SHA-256"] == hashlib.sha256(b"table").hexdigest()
    assert f"my run-seed-{seeds[-1]}.h5, SHA-256" in items


# Whole pages


@pytest.fixture
def seeds_folder(run_file, tmp_path):
    """Runs of seeds 3 and 10, which differ in their accuracies, and their table."""
    files = SeedFiles.of(tmp_path / "small.h5", (3, 10))
    for path in files.runs.values():
        shutil.copy(run_file, path)
    with edited(files.runs[10]) as file:
        file["training/ring/test_accuracy"][...] = np.array([0.1, 0.2, 0.2, 0.25])
    write_tables(files.table, [seeds_summary({seed: read_run(path) for seed, path in files.runs.items()})])
    return files


def test_the_page_is_made_of_the_runs_beside_the_table(silosim, seeds_folder):
    silosim("report", seeds_folder.table).ok()
    page = seeds_folder.page.read_text()
    reader = PageReader(page)
    reader.check_alone()
    texts = " ".join(" ".join(reader.texts).split())
    table = seeds_summary({seed: read_run(path) for seed, path in seeds_folder.runs.items()})
    assert is_seeds_table(seeds_folder.table)
    assert [row["reached"] for row in table.rows] == [2, 1]
    for row in table.rows:
        for name in ("simulated_s", "test_accuracy", "rounds_to_target", "time_to_target_s"):
            assert (row[f"{name}_text"] or "-") in texts
    for run in table.further["runs"]:
        assert f"{100 * run['test_accuracy']:.4g} %" in texts
    for path in seeds_folder.runs.values():
        assert f"{path.name}, SHA-256" in texts
    assert "--seeds 3,10 --report" in texts
    # Loss and accuracy over rounds and time, a band for each overlay, and the accuracy of the ring is one.
    assert page.count('class="band ') == 8
    assert "band: lowest to highest of 2 seeds, around their mean" in texts
    band = page.split('id="test_accuracy-rounds"')[1].split('class="band f-k1"')[1]
    places = {tuple(map(float, pair)) for pair in re.findall(r"([\d.]+),([\d.]+)", band.split("/>")[0])}
    assert len(places) > 4
    assert "<title>small: 2 seeds</title>" in page
    assert "NaN" not in page
    assert "nan" not in texts


def test_a_table_that_is_not_that_of_the_runs_beside_it_has_no_page(silosim, seeds_folder):
    whole = seeds_folder.table.read_text()
    seeds_folder.table.write_text(whole.replace("star,2,", "star,3,"))
    said = silosim("report", seeds_folder.table).failed(2).err
    assert "small-seeds.csv: has other numbers than the 2 runs beside it" in said
    assert said.count("\n") == 1
    seeds_folder.table.write_text(whole)
    shutil.copy(seeds_folder.runs[3], seeds_folder.runs[3].with_name("small-seed-4.h5"))
    assert "the 3 runs beside it" in silosim("report", seeds_folder.table).failed(2).err
    other = seeds_folder.table.rename(seeds_folder.table.with_name("other-seeds.csv"))
    said = silosim("report", other).failed(2).err
    assert "of which none lies beside it: no other-seed-0.h5." in said
    said = silosim("report", other.rename(other.with_name("other.csv"))).failed(2).err
    assert "it must be called NAME-seeds.csv, beside NAME-seed-0.h5." in said
    assert not seeds_folder.page.exists()


def test_a_page_that_exists_is_said_before_anything_is_trained(silosim, scenario, tmp_path):
    for name, options in (("o.html", ()), ("o-seeds.html", ("--seeds", "2"))):
        (tmp_path / name).write_text("mine")
        said = silosim("run", scenario, "-o", tmp_path / "o.h5", "--report", *options).failed(2).err
        assert f"{name} exists already" in said
    with pytest.raises(package.InputError, match=r"o\.html exists already"):
        package.run(scenario, tmp_path / "o.h5", report=True)
    with pytest.raises(package.InputError, match=r"o-seeds\.html exists already"):
        package.run_seeds(scenario, tmp_path / "o.h5", 2, report=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o-seeds.html", "o.html", "small.toml"]


def test_the_pages_say_what_is_trained_and_what_messages_are_of_the_model(run_file):
    record = read_run(run_file)
    assert training_lines(record, recorded_scenario(record.scenario)) == [
        "trained: model softmax on digits, partition dirichlet, 12 rounds"
    ]
    text = record.scenario + "compression = 'top_k'\ncompression_ratio = 0.05\nconsensus_step = 0.1\n"
    bits = record.work.model_bits
    share = 0.05 * (32 + math.ceil(math.log2(650))) / 32
    sent = replace(record, work=replace(record.work, message_share=share, model_bits=share * bits))
    assert training_lines(sent, recorded_scenario(text))[1] == (
        "messages: compressed by top_k (choco, compression_ratio 0.05, consensus_step 0.1): 6.56 % of the model's "
        "20.8 kbit"
    )
    text = record.scenario + "compression = 'qsgd'\ncompressed_gossip = 'error_feedback'\n"
    assert training_lines(sent, recorded_scenario(text))[1] == (
        "messages: compressed by qsgd (error_feedback, quantization_levels 16): 6.56 % of the model's 20.8 kbit"
    )
    text = record.scenario + "backend = 'lab'\n"
    assert training_lines(record, recorded_scenario(text)) == ["trained: by the backend lab, 12 rounds"]


@pytest.mark.slow
def test_a_run_with_report_has_the_page_that_report_makes(silosim, scenario, tmp_path):
    silosim("run", scenario, "-o", tmp_path / "o.h5", "--report").ok()
    package.report(tmp_path / "o.h5", tmp_path / "again.html")
    assert (tmp_path / "o.html").read_bytes() == (tmp_path / "again.html").read_bytes()
    package.run(scenario, tmp_path / "p.h5", report=True)
    assert "<h2>Training</h2>" in (tmp_path / "p.html").read_text()
    package.run_seeds(scenario, tmp_path / "q.h5", 2, report=True)
    package.report(tmp_path / "q-seeds.csv", tmp_path / "again.html", force=True)
    assert (tmp_path / "q-seeds.html").read_bytes() == (tmp_path / "again.html").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium")
def test_in_a_browser_nothing_is_wider_than_the_page_and_nothing_is_loaded(seeds_folder, tmp_path):
    package.report(seeds_folder.table, seeds_folder.page)
    with open_page(tmp_path / "profile") as page:
        page.open(seeds_folder.page)
        for width in (400, 1000, 1600):
            for is_dark in (False, True):
                page.show(width, is_dark=is_dark)
                assert page.run("document.documentElement.scrollWidth") <= width
                assert page.run(
                    "[...document.querySelectorAll('.band')].every((b) => b.getBBox().width > 20)"
                )
        assert page.errors == []
        assert [each for each in page.requests if not each.startswith("data:")] == [
            seeds_folder.page.as_uri()
        ]
