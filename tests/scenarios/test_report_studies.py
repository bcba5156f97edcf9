"""Pages of studies and validations: charts, counts, tables, causes."""

import pytest
from page_reader import PageReader

from scenarios.config.network import NetworkConfig
from scenarios.config.overlay_config import OverlayConfig
from scenarios.pages.study_page import chosen_lines, study_answer, study_page
from scenarios.pages.validation_page import validation_page
from scenarios.runfile.study_table import read_study
from scenarios.simulation.experiment import network_experiment
from scenarios.validation.file import read_validation, write_validation
from scenarios.validation.request import validation_experiment
from scenarios.validation.study import validate
from scenarios.validation.table import PARTS, part_key
from topologies import Workload

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
    ]


def test_without_simulation_an_overlay_that_links_cannot_carry_does_not_win(study):
    table = read_study(study(rows_of([1e7, 1e8])))
    ring = table["overlay"] == "ring"
    table["load_bound_s"] = table["paper_s"].where(~ring, 1e3)
    table["paper_below_load"] = ring
    said = study_answer(table)

    assert "ring" not in said[1]
    assert said[2] == "In 2 rows paper is below the load bound, so that no network is as fast."


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    network = NetworkConfig(underlay="gaia", access="100 Mbps")
    made = network_experiment(network, Workload(model_bits=1e6, compute_s=0.01), rounds=200)
    experiment, randomized = validation_experiment(
        made.naming(None),
        {"rounds": 200},
        overlays=[OverlayConfig(kind="star"), OverlayConfig(kind="ring")],
        seed=0,
        compute_times=None,
        from_scenario=False,
    )
    path = tmp_path_factory.mktemp("validation")
    results = validate(experiment, randomized_rounds=randomized)
    write_validation(path / "validation-gaia.h5", experiment, results)
    return path


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
    assert "No core capacity: the file or the scenario states that of every link." in said
    assert "Time that the busiest link needs" in said
    assert "silosim report validation-gaia.h5 -o validation-gaia.html" in said
