"""Pages of studies and validations: charts, counts, tables, causes."""

import re
from concurrent.futures import ThreadPoolExecutor

import pandas
import pytest
from page_reader import PageReader

from scenarios.config.network import NetworkConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.study import parse_study
from scenarios.pages.files import report
from scenarios.pages.study_answer import study_answer
from scenarios.pages.study_page import chosen_lines, study_page
from scenarios.pages.study_slider import capacity_points
from scenarios.pages.validation_page import _arcs, _cause, _signed, _time, validation_page
from scenarios.runfile.study_table import read_study
from scenarios.simulation.experiment import network_experiment
from scenarios.studies.study import run_study
from scenarios.validation.file import new_validation, read_validation
from scenarios.validation.table import PARTS, part_key
from scenarios.validation.validation_request import validation_experiment
from scenarios.validation.validation_study import validate
from topologies import InputError, Workload

HEAD = "access_bps,local_steps,budget,seed,network,silos,overlay,kind,options,paper_s,error,point"


def rows_of(capacities, steps=(1,), budgets=(0.5,), seeds=(0,), kinds=("star", "ring")):
    """CSV of a study whose paper_s are 1 / capacity for the ring and twice that for the star."""
    lines, point = [HEAD], 0
    for capacity in capacities:
        for step in steps:
            for budget in budgets:
                for seed in seeds:
                    point += 1
                    for kind in kinds:
                        value = (2e8 if kind == "star" else 1e8) / capacity * step
                        lines.append(
                            f"{capacity},{step},{budget},{seed},net,3,{kind},{kind},,{value},,p{point}"
                        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def study(tmp_path):
    def write(text):
        path = tmp_path / "study.csv"
        path.write_text(text)
        return path

    return write


def test_the_answer_counts_points(study):
    table = read_study(study(rows_of([1e7, 1e8])))

    assert study_answer(table) == [
        "2 points of 2 overlays.",
        "Of 2 with a cycle time (the larger of paper and load), ring has the shortest in all of them.",
        "There a round of star takes 2 times as long as one of ring.",
    ]


def test_the_answer_says_from_which_to_which_factor(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    table.loc[0, "paper_s"] *= 8.04

    assert study_answer(table)[2] == "There a round of star takes 2 to 16 times as long as one of ring."


def test_where_the_star_is_best_or_missing_the_factor_is_that_of_the_next(study):
    table = read_study(study(rows_of([1e7, 1e8], kinds=("mst", "ring"))))
    table.loc[table["overlay"] == "mst", "paper_s"] *= 1.5

    assert study_answer(table)[2] == (
        "There a round of the fastest other overlay takes 1.5 times as long as one of ring."
    )


def test_the_slider_has_the_numbers_of_the_file_for_each_capacity_and_combination(study):
    table = read_study(study(rows_of([1e8, 1e7], steps=[1, 5])))
    points = capacity_points(table)

    assert points.capacities_bps == (1e7, 1e8)
    assert points.choices == ("local steps per round 1", "local steps per round 5")
    for steps, of_choice in zip((1, 5), points.cells, strict=True):
        for capacity, of_capacity in zip(points.capacities_bps, of_choice, strict=True):
            for kind, cells in zip(points.overlays, of_capacity, strict=True):
                of_point = (table["access_bps"] == capacity) & (table["local_steps"] == steps)
                row = table[of_point & (table["overlay"] == kind)].iloc[0]
                assert cells[0][1] == row["paper_s"]
                assert cells[4] == (["shortest", 1.0] if kind == "ring" else ["2.00x", 2.0])


def test_overlapping_intervals_are_all_marked_the_shortest(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    table["simulated_s"] = table["paper_s"]
    table["simulated_half_width_s"] = table["paper_s"] / 2
    table["busiest_link"] = ["A uplink", None, "B uplink", "A - B"]

    (of_choice,) = capacity_points(table).cells
    assert [[cells[5] for cells in of_capacity] for of_capacity in of_choice] == [
        [["A uplink", None], ["-", None]],
        [["B uplink", None], ["A - B", None]],
    ]
    assert [cells[4][0] for cells in capacity_points(table).cells[0][0]] == ["shortest", "shortest"]
    assert capacity_points(table).cells[0][1][0][3][0] == "2.000 s \u00b1 1.000 s"


def test_without_several_capacities_there_is_no_slider(study):
    path = study(rows_of([1e7], steps=[1, 5]))

    assert capacity_points(read_study(path)) is None
    assert "<script" not in study_page(path)


def test_a_point_without_a_row_is_a_dash_and_its_mark_is_off(study):
    path = study(rows_of([1e7, 1e8]).replace("ring,,10.0,,", "ring,,,no link,"))
    table, page = read_study(path), study_page(path)

    assert capacity_points(table).cells[0][0][1] is None
    assert 'class="mark f-k1 off"' in page or 'class="mark f-k0 off"' in page


def test_without_simulation_an_overlay_that_links_cannot_carry_does_not_win(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    ring = table["overlay"] == "ring"
    table["load_bound_s"] = table["paper_s"].where(~ring, 1e3)
    table["paper_below_load"] = ring
    said = study_answer(table)

    assert "ring" not in said[1]
    assert said[3] == "In 2 rows paper is below the load bound, so that no network is as fast."


def test_a_point_in_which_an_overlay_has_no_simulation_counts_for_none(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    table["simulated_s"] = table["paper_s"]
    ring = table["overlay"] == "ring"
    table.loc[ring & (table["access_bps"] == 1e7), "simulated_s"] = float("nan")

    assert study_answer(table)[1].startswith(
        "Of 1 with a simulated cycle time, ring has the shortest in all of them"
    )


def test_ties_count_for_each_and_errors_are_counted(study):
    text = rows_of([1e7, 1e8]).replace("20.0,,p1", "10.0,,p1")
    table = read_study(study(text + "1e9,1,0.5,0,net,3,,,,,no <b>hub</b>,p9\n"))
    said = study_answer(table)

    assert said[0] == "3 points of 2 overlays. 1 row with an error."
    assert said[1].endswith("ring has the shortest in all of them and star in 1, ties counted for each.")


@pytest.mark.slow
def test_lines_are_those_of_the_figure(study):
    figures, notes = chosen_lines(read_study(study(rows_of([1e7, 1e8], steps=[1, 5]))))

    assert notes == []
    assert [panel.title for panel in figures[0].panels] == [
        "local steps per round: 1",
        "local steps per round: 5",
    ]
    assert figures[0].panels[1].lines[1].y.tolist() == [50.0, 5.0]


def test_what_one_figure_cannot_show_makes_several(study):
    table = read_study(study(rows_of([1e7, 1e8], steps=[1, 5], budgets=[0.2, 0.5])))
    figures, notes = chosen_lines(table)

    assert notes == []
    assert len(figures) == 2
    assert all(len(each.panels) == 2 for each in figures)


def test_the_page_of_a_study(study):
    path = study(rows_of([1e7, 1e8, 1e9], seeds=[0, 1]) + "1e9,1,0.5,2,net,3,,,,,no <b>hub</b>,p9\n")
    read = PageReader(study_page(path))
    said = "\n".join(read.texts)

    read.check_alone()
    assert read.open == []
    assert "no <b>hub</b>" in said
    assert "100 Mbps" in said
    assert "access capacity 1 Gbps" in said
    assert "Left out: 1 row with an error." in said


def test_a_long_table_is_cut_and_says_so(study):
    read = PageReader(study_page(study(rows_of([1e6 * k for k in range(1, 151)]))))

    assert "(the first 200 of 300)" in "".join(read.texts)


def test_only_errors_make_a_page_without_charts(study):
    said = "".join(PageReader(study_page(study(f"{HEAD}\n1e9,1,0.5,0,net,3,,,,,no hub,p1\n"))).texts)

    assert "No point has a cycle time." in said
    assert "No chart: " in said


def validation_of(path, kinds, rounds):
    """Write the validation of some overlays on gaia into a folder, and give that."""
    network = NetworkConfig(underlay="gaia", access="100 Mbps")
    made = network_experiment(network, Workload(model_bits=1e6, compute_s=0.01), rounds=rounds)
    experiment, randomized = validation_experiment(
        made.naming(None),
        {"rounds": rounds},
        overlays=[OverlayConfig(kind=kind) for kind in kinds],
        seed=0,
        compute_times=None,
        from_scenario=False,
    )
    results = validate(experiment, randomized_rounds=randomized)
    with new_validation(path / "validation-gaia.h5", experiment, force=False) as write:
        write(results)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return validation_of(tmp_path_factory.mktemp("validation"), ("star", "ring"), rounds=200)


def test_a_validation_reads_back(folder):
    recorded = read_validation(folder / "validation-gaia.h5")

    assert [row["overlay"] for row in recorded.rows] == ["star", "ring"]
    for row in recorded.rows:
        parts = [row[part_key(part)] or 0.0 for part in PARTS]
        assert sum(parts) == pytest.approx(row["maxmin_s"] - row["paper_s"], abs=1e-9)
    assert recorded.arcs["ring"][0]["source"] in recorded.arcs["ring"][-1]["target"]


def test_the_page_of_a_validation(folder):
    read = PageReader(validation_page(folder))
    said = "".join(read.texts)

    read.check_alone()
    assert "How right are the closed forms on gaia (corrected)?" in said
    assert "within 1 %" in said
    assert validation_page(folder) == validation_page(folder / "validation-gaia.h5").replace(
        "Validation: validation-gaia.h5", f"Validation: {folder.name}"
    )


def test_the_page_of_a_validation_has_what_it_assumes_and_what_words_mean(folder):
    said = "\n".join(PageReader(validation_page(folder)).texts)

    assert "Latency: 0.0085 ms/km along a route, and 4 ms once." in said
    assert "No core capacity is assumed: the network's file or the scenario states them all." in said
    assert "Time that the busiest link needs" in said
    assert "silosim report validation-gaia.h5 -o validation-gaia.html" in said


def simulated(table, stars, rings, half):
    """The table with simulated cycle times of both overlays in each point, and half widths of the stars'."""
    star = (table["overlay"] == "star").to_numpy()
    table["simulated_s"], table["simulated_half_width_s"] = 0.0, 0.0
    table.loc[star, "simulated_s"], table.loc[~star, "simulated_s"] = stars, rings
    table.loc[star, "simulated_half_width_s"] = half
    return table


def test_estimates_whose_intervals_overlap_are_ties(study):
    table = simulated(read_study(study(rows_of([1e7, 1e8]))), [1.1, 1.3], [1.0, 1.0], [0.2, 0.2])

    assert study_answer(table)[1] == (
        "Of 2 with a simulated cycle time, ring has the shortest in all of them and star in 1, ties counted for each, "
        "overlapping 95 % intervals among them."
    )


def test_an_exact_time_within_the_interval_of_the_shortest_is_a_tie(study):
    table = simulated(read_study(study(rows_of([1e7]))), [0.9], [1.0], [0.2])

    assert "star has the shortest in all of them and ring in 1, ties counted" in study_answer(table)[1]


def test_replays_are_ranked_by_their_time_to_the_target(study):
    table = simulated(read_study(study(rows_of([1e7, 1e8, 1e9]))), [2.0] * 3, [1.0] * 3, [0.0] * 3)
    table["target_accuracy"] = 0.8
    # The ring is faster in each round, but needs more of them, and never gets there at 1 Gbps, nor anything else.
    table["time_to_target_s"] = [20.0, 30.0, 40.0, None, None, None]

    assert study_answer(table)[1:] == [
        "Of 2 points in which a test accuracy of 80 % is reached, star has the shortest time to it in all of them.",
        "There the fastest other overlay takes 1.5 times as long as star to it.",
        "In 1 point no overlay reaches it.",
    ]


def test_a_point_in_which_an_overlay_failed_counts_for_none(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    failed = (table["overlay"] == "ring") & (table["access_bps"] == 1e7)
    table.loc[failed, "error"] = "no ring"
    table.loc[failed, "paper_s"] = float("nan")
    said = study_answer(table)

    assert said[0] == "2 points of 2 overlays. 1 row with an error."
    assert said[1].startswith("Of 1 with a cycle time")
    table["time_to_target_s"] = table["paper_s"]
    assert study_answer(table)[1].startswith("Of 1 point without a target accuracy, ring has")


def test_a_target_that_nothing_reaches_is_said_before_the_cycle_times(study):
    table = simulated(read_study(study(rows_of([1e7]))), [2.0], [1.0], [0.0])
    table["target_accuracy"], table["time_to_target_s"] = 0.9, float("nan")

    assert study_answer(table)[1:] == [
        "In no point does an overlay reach a test accuracy of 90 %.",
        "Of 1 with a simulated cycle time, ring has the shortest in all of them.",
        "There a round of star takes 2 times as long as one of ring.",
    ]


def test_times_without_a_target_are_to_the_last_round(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    table["target_accuracy"], table["time_to_target_s"] = float("nan"), table["paper_s"]

    assert study_answer(table)[1:] == [
        "Of 2 points without a target accuracy, ring has the shortest time to the last recorded round in all of them."
    ]


def test_of_many_winners_the_rest_is_counted(study):
    kinds = [f"k{place}" for place in range(8)]
    table = read_study(study(rows_of(range(1, 9), kinds=kinds)))
    table["paper_s"] = [1.0 if place == point else 2.0 for point in range(8) for place in range(8)]

    assert study_answer(table)[1].endswith("k4 in 1 and 3 more overlays in at most 1.")


def test_a_link_to_nowhere_beside_the_table_is_no_study(study):
    path = study(rows_of([1e7]))
    (path.parent / ".#study.toml").symlink_to("nobody@nowhere")

    assert study_page(path)


def test_charts_and_tables_mark_where_paper_is_below_load(study):
    path = study(
        rows_of([1e7, 1e8, 1e9]).replace(",error,", ",paper_below_load,error,").replace(",,p", ",True,,p")
    )
    page = study_page(path)

    assert page.count('<text class="warned"') == 6
    assert page.count(">!10 s<") == 2
    assert "!: paper is below load, which no network can do: do not count on it." in page
    assert "True" not in PageReader(page).texts


@pytest.fixture(scope="module")
def real_study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "grid.toml"
    path.write_text(
        '# <mine>\n[network]\nunderlay = "geant"\n[workload]\npreset = "femnist"\n[overlays]\nkinds = ["ring"]\n'
        '[study.grid]\n"network.access" = ["100 Mbps", "1 Gbps"]\n'
    )
    table = path.with_name("other.csv")
    run_study(
        parse_study(path.read_text(), source=str(path), folder=path.parent),
        table,
        pool=ThreadPoolExecutor(1),
        workers=1,
    )
    return table


def test_the_study_s_file_is_found_by_its_points(real_study):
    (real_study.parent / "broken.toml").write_text("[study")
    (real_study.parent / "another.toml").write_text(
        (real_study.parent / "grid.toml").read_text().replace("100 Mbps", "200 Mbps")
    )
    page = study_page(real_study)
    said = "\n".join(PageReader(page).texts)

    assert "# &lt;mine&gt;\n[network]" in page
    assert "silosim study grid.toml -o other.csv" in said
    assert "Core capacity of 1 Gbps on 22 of 61 links" in said
    assert "the paper's, of femnist." in said
    assert "core capacity 155 Mbps to 10 Gbps" in said


def test_without_its_file_a_study_says_so(real_study, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(real_study.read_text())
    said = "\n".join(PageReader(study_page(path)).texts)

    assert "The study's TOML file is not in the folder of other.csv" in said
    assert "silosim study STUDY.toml -o other.csv" in said


def test_the_page_of_a_validation_names_engines_and_rounds(folder):
    said = "\n".join(PageReader(validation_page(folder)).texts)
    row = read_validation(folder / "validation-gaia.h5").rows[1]

    assert row["maxmin_engine"] in said
    assert f"ring {row['maxmin_rounds']:,} (maxmin)" in said


def test_charts_of_replays_are_of_their_time_to_the_target(study):
    table = simulated(read_study(study(rows_of([1e7, 1e8]))), [2.0] * 2, [1.0] * 2, [0.0] * 2)
    table["time_to_target_s"] = [20.0, 30.0, 2.0, 3.0]
    (figure,), notes = chosen_lines(table)

    assert figure.y == "time_to_target_s"
    assert [line.y.tolist() for line in figure.panels[0].lines] == [[20.0, 2.0], [30.0, 3.0]]
    assert notes == []


def test_the_scenario_of_a_replayed_run_is_shown(imported_run, tmp_path):
    run, path = tmp_path / "run.h5", tmp_path / "replays.toml"
    run.write_bytes(imported_run.read_bytes())
    path.write_text('[study]\nrun = "run.h5"\n[study.grid]\n"network.access" = ["50 Mbps"]\n')
    made = parse_study(path.read_text(), source=str(path), folder=tmp_path)
    run_study(made, tmp_path / "replays.csv", pool=ThreadPoolExecutor(1), workers=1)
    said = "\n".join(PageReader(study_page(tmp_path / "replays.csv")).texts)

    assert "Scenario of the run that is replayed (TOML)" in said
    assert "[imported]" in said
    assert "is reached, ring has the shortest time to it in all of them" in said


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (("wait", "A -> B", "B waits 2 s more for A -> B"), "wait: B waits 2 s more for A -> B"),
        (
            ("unused share", "A's downlink", "unused share: Eq. 3 divides A's downlink"),
            "unused share: Eq. 3 divides A's downlink",
        ),
        (("queue", "link", "another"), "queue: link: another"),
        (("", "", "as Eq. 3 says"), "as Eq. 3 says"),
        (("", "", ""), "-"),
    ],
)
def test_causes_do_not_say_a_thing_twice(cause, said):
    assert _cause(dict(zip(("assumption", "place", "cause"), cause, strict=True))) == said


def test_a_validation_marks_paper_below_load(folder):
    row = dict(read_validation(folder / "validation-gaia.h5").rows[0])

    assert _time(row, "paper_s")[0] != "!"
    assert _time(row | {"paper_below_load": True}, "paper_s")[0] == "!"


def test_what_has_no_page_is_said_before_the_page_that_exists(tmp_path):
    (tmp_path / "study.html").write_text("kept")
    for name, said in (
        ("study.toml", "must be the HDF5 file of a run"),
        ("study.h5", "is not an HDF5 file: must"),
    ):
        (tmp_path / name).write_text("text")
        with pytest.raises(InputError, match=said):
            report(tmp_path / name, tmp_path / "study.html", force=False)


def test_the_table_has_words_for_its_heads_and_no_column_twice(study):
    path = study(
        rows_of([1e7, 1e8])
        .replace("network,silos", "network,silos,access_up_bps,access_down_bps")
        .replace("10000000.0,1,0.5,0,net,3,", "10000000.0,1,0.5,0,net,3,10000000.0,10000000.0,")
        .replace("100000000.0,1,0.5,0,net,3,", "100000000.0,1,0.5,0,net,3,100000000.0,100000000.0,")
    )
    table = pandas.read_csv(path)
    table.insert(1, "model_size_bits", [8e6, 8e6, 8e7, 8e7])
    table.insert(6, "model_bits", table["model_size_bits"])
    table.to_csv(path, index=False)
    page = study_page(path)
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", page[page.index("Rows of the table") :])

    assert heads == ["access capacity", "model size", "overlay", "cycle time, paper"]


def test_parts_of_an_arc_are_signed_and_rounding_errors_are_0():
    terms = ("eq3_s", "queue_s", "rate_s", "wait_s", "computing_s", "world_s")
    values = (2.0, 0.5, -0.25, 1e-9, -3e-9, 0.0)
    arc = {
        "source": "A",
        "target": "B",
        "assumption": "",
        "place": "",
        "cause": "",
        **dict(zip(terms, values, strict=True)),
    }
    own = {**arc, "target": "A", "eq3_s": 0.5}
    read = PageReader(_arcs("ring", [arc, own]))
    texts = [text for text in read.texts if text.strip()]
    # All arcs together take 2.5 s: what is below 2.5 ns is a rounding error.
    row = ["A -> B", "2.000 s", "500.0 ms", "-250.0 ms", "0", "-3.000 ns", "0", "-"]
    start = texts.index("A -> B")
    assert texts[start : start + 10] == [*row, "A computes", "500.0 ms"]
    assert [_signed(its, 1e-9) for its in (1e-9, -1e-9, 2e-9, -2e-9)] == ["0", "0", "+2.000 ns", "-2.000 ns"]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({}, "-"),
        ({"paper_s": None}, "-"),
        ({"paper_s": 0.5, "paper_below_load": False}, "500.0 ms"),
        ({"paper_s": 0.5, "paper_below_load": True}, "!500.0 ms"),
    ],
)
def test_a_time_that_is_not_there_is_a_dash(row, text):
    assert _time(row, "paper_s") == text


@pytest.mark.parametrize(
    ("simulated_s", "paper_s", "said"),
    [
        ([None] * 4, [None] * 4, "No point has a cycle time."),
        ([None] * 4, [1.0, None, None, 1.0], "No point has a cycle time of each overlay."),
        ([1.0, None, None, 1.0], [1.0] * 4, "No point has a simulated cycle time of each overlay."),
    ],
)
def test_points_without_a_time_of_each_overlay_are_not_compared(simulated_s, paper_s, said):
    table = pandas.DataFrame(
        {
            "point": [0, 0, 1, 1],
            "network": "gaia",
            "overlay": ["star", "ring"] * 2,
            "simulated_s": pandas.Series(simulated_s, dtype=float),
            "paper_s": pandas.Series(paper_s, dtype=float),
        }
    )
    assert study_answer(table)[-1] == said


def test_up_to_12_values_are_panels_and_up_to_12_combinations_figures(study):
    def drawn(budgets):
        found, notes = chosen_lines(
            read_study(study(rows_of([1e7, 1e8], steps=(1, 5), budgets=[k / 20 for k in range(budgets)])))
        )
        return [len(each.panels) for each in found], notes

    assert drawn(12) == ([12] * 2, [])
    assert drawn(13) == (
        [2] * 12,
        ["Charts are of the first 12 of 13 combinations of budget; silosim plot --where draws others."],
    )
