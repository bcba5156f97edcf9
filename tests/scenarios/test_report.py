"""The page of a run: numbers are the file's, labels are texts, nothing is loaded, bad input is one line."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pair_run
import pytest
from edited_run import edited
from page_reader import PageReader
from pair_run import write_pair_run

import silosim as package
from scenarios.cli.report import default_page
from scenarios.config.quantities import format_s
from scenarios.config.simulation import SimulationConfig
from scenarios.config.upgrade import UpgradeConfig
from scenarios.pages.capacity import (
    _impossible,
    _link_text,
    _need_text,
    forms_of,
    row_texts,
    slider_controls,
    slider_data,
)
from scenarios.pages.overlay_map import MOST_ARCS, drawn_arcs
from scenarios.pages.run_facts import _start, capacity_steps, run_facts, single_upgrades
from scenarios.pages.run_page import page_of, run_page
from scenarios.pages.training_charts import training_charts
from scenarios.report.svg_chart import (
    HEIGHT,
    WIDTH,
    ChartAxis,
    ChartLine,
    category_axis,
    chart_axis,
    line_chart,
)
from scenarios.runfile.reader import read_run
from scenarios.studies.upgrade import upgrade_table
from topologies import Workload, connectivity, design, load_underlay
from topologies.analysis import access_curve
from topologies.connectivity import AccessLinks

pytestmark = pytest.mark.usefixtures("compiled_simulations")

MARKUP = "<b>&\"'</b><!--</script>"


@pytest.fixture(scope="module")
def facts(run_file):
    return run_facts(run_file)


@pytest.fixture(scope="module")
def page(facts):
    return PageReader(page_of(facts))


def test_the_page_stands_alone(page):
    page.check_alone()
    assert page.open == []
    assert "On gaia (corrected) at 100\u00a0Mbps" in "".join(page.texts)


def test_embedded_numbers_are_those_of_the_file(facts, page, run_file):
    data, record = page.data["run"], read_run(run_file)

    assert data == slider_data(facts)
    for entry, overlay in zip(data["overlays"], record.overlays, strict=True):
        forms = forms_of(entry, data["capacities"][data["start"]])
        there = overlay.closed_forms
        assert forms == pytest.approx((there.paper_s, there.serialized_s, there.load_bound_s), rel=1e-12)
    assert data["capacities"][data["start"]] == 1e8


def test_the_script_s_formula_is_the_exact_curve(facts, page):
    data = page.data["run"]
    for entry, each in zip(data["overlays"], facts.overlays, strict=True):
        curve = access_curve(each.overlay, data["capacities"][0], data["capacities"][-1])
        for capacity in data["capacities"]:
            assert forms_of(entry, capacity)[0] == float(curve(capacity))
            assert forms_of(entry, capacity) == each.forms.at(capacity)


def test_the_table_s_cells_are_the_numbers_of_the_data(facts, page):
    data = page.data["run"]
    cells = [float(attributes["data-value"]) for _, attributes in page.tags if "data-value" in attributes]
    wanted = [value for entry in data["overlays"] for value in forms_of(entry, 1e8)]

    assert cells == wanted
    assert row_texts(data["overlays"], 1, 1e8)[1] == format_s(wanted[4])
    ratio = facts.table.rows[0]["paper_s"] / facts.table.rows[1]["paper_s"]
    assert row_texts(data["overlays"], 1, 1e8)[3] == f"{ratio:.2f}x"


def test_links_carry_what_the_overlay_sends(facts):
    ring = slider_data(facts)["overlays"][1]
    record = facts.record.links(overlay="ring").set_index("link")

    assert [cells[:2] for cells in ring["silos"]] == [[1.0, 1.0]] * 11
    assert sum(cells[0] + cells[1] for cells in ring["links"].values()) == 11
    label = facts.graph.labels[0]
    assert ring["silos"][0][2] == pytest.approx(record.utilisation[f"{label} uplink"], abs=1e-6)


def test_overlays_and_labels_with_markup_are_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_run, "LABELS", (f"A {MARKUP}", f"B {MARKUP}"))
    monkeypatch.setattr(pair_run, "OVERLAYS", (f"o {MARKUP}".replace("/", "|"), "two"))
    path = write_pair_run(tmp_path / "pair.h5", scenario='name = "<i>&amp;"')
    page = run_page(path)
    read = PageReader(page)

    read.check_alone()
    assert not {"b", "i"} & {tag for tag, _ in read.tags}
    assert read.data["run"]["labels"] == [f"A {MARKUP}", f"B {MARKUP}"]
    assert "<i>&amp;: pair" in "".join(read.texts)
    assert page.count("</script>") == 2


def test_a_run_whose_dates_are_known(tmp_path):
    facts = run_facts(write_pair_run(tmp_path / "pair.h5"))

    assert facts.own_bps == pair_run.ACCESS_BPS
    assert facts.overlays[0].forms.at(pair_run.ACCESS_BPS)[0] == pytest.approx(pair_run.CYCLE_S, rel=1e-12)
    assert "Nothing was trained" in page_of(facts)


def test_a_randomized_overlay_says_why_it_has_no_curve(imported_run):
    page = PageReader(run_page(imported_run))
    said = " ".join(page.texts)

    assert "other arcs in each round: no exact curve" in said
    assert "fixed" not in page.data["run"]["overlays"][2]
    assert "one imported curve, the same on every overlay" in said
    assert "silosim import-metrics metrics.csv --on scenario.toml --target-accuracy 0.5 -o run.h5" in said
    assert "All overlays have the one imported training curve" in said


def test_heads_have_units(page):
    assert "paper (ms)" in page.texts
    assert any(said.startswith("Cycle times in ms.") for said in page.texts)
    # Circuits are with arrows.
    assert not [said for said in page.texts if said.count(" -> ") > 1]
    assert any(said.startswith("Sao Paulo \u2192 Seoul") for said in page.texts)


def test_every_figure_has_words_and_a_table(page):
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    charts = [
        attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") == "chart"
    ]

    assert len(charts) == 5
    for attributes in charts:
        assert set(attributes["aria-labelledby"].split()) <= ids
    slider = next(attributes for tag, attributes in page.tags if attributes.get("id") == "capacity")
    assert slider["aria-valuetext"] == "100 Mbps"


def test_training_charts_have_the_file_s_rounds(facts):
    shown = training_charts([facts.record], facts.scenario)
    curves = re.findall(r'<path class="curve k\d" d="([^"]+)"', shown)

    assert len(curves) == 8
    rounds = len(facts.record.overlays[0].history["round"])
    assert curves[0].count("L") == rounds - 1


@pytest.mark.parametrize("place", [0, 1])
def test_upgrades_are_those_of_the_command(facts, place):
    overlay = facts.overlays[place].overlay
    simulation = SimulationConfig(rounds=1)
    table = upgrade_table(overlay, UpgradeConfig(budget=1), simulation, rounds=2, seed=0)
    found = [(each.name, each.cycle_time_s, each.gain_s) for each in single_upgrades(overlay)]

    assert found == [
        (single["link"], single["cycle_time_s"], single["gain_s"]) for single in table.further["single_links"]
    ]
    assert bool(found) == (place == 0)


@pytest.mark.parametrize("own_bps", [None, np.inf, 1e8, 3.3e3, 4e12])
def test_capacities_ascend_and_hold_the_run_s_own(own_bps):
    steps = capacity_steps(own_bps)

    assert list(steps) == sorted(set(steps))
    assert steps[0] <= 1e6
    assert steps[-1] >= 1e11
    if own_bps is not None and np.isfinite(own_bps):
        assert own_bps in steps
        assert steps[0] < own_bps < steps[-1]


def test_of_many_arcs_the_critical_ones_are_drawn():
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2] * 17
    )
    work = Workload(model_bits=1e6, compute_s=0.01)
    overlay = design("complete", graph, work)

    class Forms:
        """A circuit through the last silos."""

        class curve:  # noqa: N801
            circuits = ((49, 50),)

    class Recorded:
        arcs = np.column_stack([overlay.source, overlay.target, overlay.tokens])

    class Each:
        forms, recorded = Forms, Recorded

    arcs = Recorded.arcs[drawn_arcs(Each)][:, :2].tolist()

    assert len(Recorded.arcs) > MOST_ARCS
    assert len(arcs) == MOST_ARCS + 2
    assert [49, 50] in arcs
    assert [50, 49] in arcs


def test_many_points_keep_their_extremes():
    x = np.arange(20_000.0)
    y = np.sin(x / 3000)
    y[12_345] = 7.0
    axis = chart_axis("x", [x], is_x=True), chart_axis("y", [y], is_x=False)
    drawn = line_chart("c", "a", "b", *axis, [ChartLine(style="k0", x=x, y=y)])
    path = re.search(r'class="curve k0" d="([^"]+)"', drawn)[1]
    heights = [float(pair.split(",")[1]) for pair in re.split("[ML]", path)[1:]]

    assert len(heights) < 2000
    assert heights.count(min(heights)) == 1
    # A few points for each place along the axis.
    across = np.array([float(pair.split(",")[0]) for pair in re.split("[ML]", path)[1:]])
    assert np.diff(across).max() < 2
    assert (across[0], across[-1]) == (across.min(), across.max())


def test_a_point_that_cannot_be_is_marked_below_it_within_the_frame():
    x, y = np.arange(1.0, 5.0), np.array([2.0, 1.0, np.nan, 3.0])
    axes = chart_axis("x", [x], is_x=True), chart_axis("y", [y], is_x=False)
    line = ChartLine(style="k0", x=x, y=y, warned=np.array([True, True, True, False]))
    drawn = line_chart("c", "a", "b", *axes, [line])
    dots = re.findall(r'<circle class="f-k0" cx="([0-9.]+)" cy="([0-9.]+)"', drawn)
    marks = re.findall(r'class="warned" x="([0-9.]+)" y="([0-9.]+)"', drawn)

    assert [across for across, _ in dots[:2]] == [across for across, _ in marks]
    # The lowest point is too near the end of the frame: its mark is above it.
    assert [float(mark) - float(dot) for (_, dot), (_, mark) in zip(dots, marks, strict=False)] == [14, -5]
    assert all(0 < float(across) < WIDTH and 0 < float(down) < HEIGHT for across, down in (*dots, *marks))


def chart(line, *, is_log=False, target=None):
    """A chart of a line over the same axes, which reach from 0 to 10, or from 1 to 100."""
    ends = {"low": 1.0, "high": 100.0} if is_log else {"low": 0.0, "high": 10.0}
    x = ChartAxis(label="x <s>", is_log=False, low=0.0, high=10.0, ticks=[(0.0, "0"), (10.0, "ten")])
    y = ChartAxis(label="y", is_log=is_log, **ends, ticks=[(ends["high"], "top")])
    return line_chart("c", "a", "b", x, y, [line], target=target)


def paths_of(drawn, kind):
    """The paths of a class, as lists of their letters and numbers."""
    return [re.findall(r"[MLVHZ]|[0-9.]+", d) for d in re.findall(rf'class="{kind} k0" d="([^"]+)"', drawn)]


def test_a_line_breaks_where_a_number_is_missing():
    x, y = np.array([0.0, 2.0, 5.0, 7.0, 10.0]), np.array([0.0, 10.0, np.nan, 5.0, 10.0])
    drawn = chart(ChartLine(style="k0", x=x, y=y))
    frame = re.search(r'class="frame" x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)"', drawn)
    left, top, width, height = map(float, frame.groups())
    expected = []
    for mark, across, up in (("M", 0, 0), ("L", 0.2, 1), ("M", 0.7, 0.5), ("L", 1, 1)):
        expected += [mark, f"{left + across * width:.1f}", f"{top + (1 - up) * height:.1f}"]
    assert paths_of(drawn, "curve") == [expected]
    assert drawn.count('<circle class="f-k0"') == 4
    assert 'class="curve thin k0"' in chart(ChartLine(style="k0", x=x, y=y, is_thin=True))
    assert "<circle" not in chart(ChartLine(style="k0", x=x, y=y, is_thin=True))
    assert "<circle" not in chart(ChartLine(style="k0", x=x, y=y, has_dots=False))
    apart = chart(ChartLine(style="k0", x=x, y=y, is_joined=False))
    assert (paths_of(apart, "curve"), apart.count("<circle")) == ([], 4)


@pytest.mark.parametrize(("points", "is_joined", "dots"), [(40, True, 40), (41, True, 0), (41, False, 41)])
def test_many_joined_points_have_no_dots(points, is_joined, dots):
    x = np.linspace(0, 10, points)
    assert chart(ChartLine(style="k0", x=x, y=x, is_joined=is_joined)).count("<circle") == dots


def test_bars_and_bands_reach_from_low_to_high_within_the_frame():
    x, y = np.array([0.0, 5.0, 10.0]), np.array([10.0, 10.0, np.nan])
    low, high = np.array([1.0, -5.0, 1.0]), np.array([100.0, 100.0, 100.0])
    bars = chart(ChartLine(style="k0", x=x, y=y, low=low, high=high, has_bars=True), is_log=True)
    top, bottom = (
        float(re.search(rf'class="frame" [^>]*{name}="(.+?)"', bars)[1]) for name in ("y", "height")
    )
    bottom += top
    (bar,) = paths_of(bars, "bar")
    # Below 0 there is nothing on a logarithmic axis: the bar ends at the frame.
    assert [float(end) for end in (bar[2], bar[4], bar[7], bar[9])] == [top, bottom, top, bottom]
    assert bar[0::5] == ["M", "M"]
    band = chart(ChartLine(style="k0", x=x, y=y, low=low, high=high), is_log=True)
    (corners,) = re.findall(r'class="band f-k0" d="M([^"]+)Z"', band)
    places = [tuple(map(float, corner.split(","))) for corner in corners.split()]
    assert [down for _, down in places] == [top, top, bottom, bottom]
    assert places[0][0] == places[3][0] < places[1][0] == places[2][0]
    alone = ChartLine(style="k0", x=x[:1], y=y[:1], low=low[:1], high=high[:1])
    assert "band" not in chart(alone, is_log=True)


@pytest.mark.parametrize(
    ("target", "drawn"), [(0.0, 1), (5.0, 1), (10.0, 1), (10.5, 0), (-0.5, 0), (None, 0)]
)
def test_a_target_within_the_axis_is_a_line(target, drawn):
    x = np.array([0.0, 10.0])
    text = chart(ChartLine(style="k0", x=x, y=x), target=target)
    assert text.count('class="target"') == drawn
    assert "x &lt;s&gt;" in text
    # Names of places are outside the frame, below it and left of it.
    ten, top = (re.search(rf'<text x="(.+?)" y="(.+?)"[^>]*>{name}<', text) for name in ("ten", "top"))
    assert float(ten[1]) == WIDTH - 14
    assert HEIGHT - 48 < float(ten[2]) < HEIGHT
    assert float(top[1]) < 64


def test_an_axis_of_texts_has_at_most_twelve_of_them():
    assert list(category_axis("x", []).ticks) == []
    assert [list(category_axis("x", ["ab"] * 12).ticks), category_axis("x", ["ab"] * 12).high] == [
        [(float(place), "ab") for place in range(12)],
        11.5,
    ]
    long = category_axis("x", ["abcdefghijklmn"] * 13)
    assert list(long.ticks) == [(float(place), "abcdefghijkl") for place in range(0, 13, 2)]


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("notes.txt", "hello", "must be the HDF5 file of a run (.h5 or .hdf5), the table of a study"),
        ("none.h5", None, "there is no such file or folder."),
        ("table.csv", "a,b\n1,2\n", "is not the table of a study."),
        ("empty.csv", "overlay,point\n", "holds no point."),
        ("folder", ..., "must hold a validation-NETWORK.h5"),
    ],
)
def test_bad_input_is_one_line(silosim, tmp_path, name, content, rule):
    path = tmp_path / name
    if content is ...:
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    failed = silosim("report", path, "-o", tmp_path / "page.html").failed(2)

    assert rule in failed.err
    assert failed.err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_the_page_s_name_is_checked_first(silosim, run_file, tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.pages.files.page_of", lambda _source: pytest.fail("too early"))
    there = tmp_path / "there.html"
    there.write_text("mine")

    assert "must end in .html" in silosim("report", run_file, "-o", tmp_path / "page.pdf").failed(2).err
    assert "exists already; --force replaces it." in silosim("report", run_file, "-o", there).failed(2).err
    assert there.read_text() == "mine"


@pytest.mark.slow
def test_the_command_writes_the_page(silosim, run_file, tmp_path):
    page = tmp_path / "page.html"
    result = silosim("report", run_file, "-o", page).ok()
    package.report(run_file, tmp_path / "again.html")

    assert result.out == ""
    assert "written: " in result.err
    assert page.read_text() == (tmp_path / "again.html").read_text()
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("out/run.h5", "out/run.html"),
        ("run.h5.partial", "run.html"),
        ("s.csv", "s.html"),
        ("v-1.5", "v-1.5.html"),
    ],
)
def test_the_page_is_beside_its_source(tmp_path, monkeypatch, source, page):
    monkeypatch.chdir(tmp_path)
    if source == "v-1.5":
        Path(source).mkdir()

    assert default_page(Path(source)) == Path(page)


def test_a_run_that_was_cut_short_has_what_there_is(run_file, tmp_path):
    path = tmp_path / "small.h5.partial"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        attrs = file["simulation/ring"].attrs
        attrs["cycle_time_s"], attrs["rounds"] = np.nan, 0
        file["training/ring/round"][...] = -1
    said = " ".join(PageReader(run_page(path)).texts)

    assert (
        "The run was interrupted, and the simulation of ring and the training of ring are not whole." in said
    )


@pytest.mark.parametrize("missing", [slice(-1, None), slice(0, None)])
def test_a_run_without_its_last_training_rows_is_said_to_be_interrupted(run_file, tmp_path, missing):
    path = tmp_path / "small.h5"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        rounds = file["training/ring/round"][:]
        rounds[missing] = -1
        file["training/ring/round"][...] = rounds

    said = "The run was interrupted, and the training of ring is not whole"
    assert re.search(f'class="answer">[^<]*{said}', run_page(path))


def test_a_run_that_was_cut_before_any_training_is_no_simulation(run_file, tmp_path):
    path = tmp_path / "small.h5"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        for group in file["training"].values():
            group["round"][...] = -1
    page = run_page(path)

    assert "the training of star and ring is not whole" in page
    assert "The run was interrupted before the first training row" in page
    assert "silosim run scenario.toml" in page


@pytest.mark.slow
@pytest.mark.usefixtures("placeholder_figures")
def test_a_replay_is_not_said_to_be_made_by_run(silosim, run_file, tmp_path):
    path = tmp_path / "replay.h5"
    silosim("replay", run_file, "--access", "1 Gbps", "-o", path).ok()
    page, run = run_page(path), run_page(run_file)

    assert "A replay: silosim replay makes it again" in page
    assert "silosim run scenario.toml" not in page
    assert "silosim run scenario.toml" in run
    assert "silosim replay" not in run
    with edited(path) as file:
        del file.attrs["is_replay"]
    older = run_page(path)
    assert "If silosim replay made this file, silosim replay makes it again" in older
    assert "silosim run scenario.toml" in older


def test_a_network_that_changes_has_what_its_links_carried(tmp_path, silosim, scenario, small_scenario):
    events = (
        '[[simulation.capacity]]\nlink = "Sydney uplink"\nat = ["0 s", "1 s"]\ncapacity = ["100 Mbps", "20 Mbps"]\n'
        '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 10\npolicy = "go_on"\nrounds = 15\n'
    )
    plain = small_scenario.split("[training]")[0]
    scenario.write_text(plain.replace("[workload]", '[workload]\nmodel_size = "1 Mbit"') + events)
    path = tmp_path / "events.h5"
    silosim("simulate", scenario, "-o", path).ok()
    facts = run_facts(path)
    ring, links = facts.overlays[1], facts.record.links(overlay="ring").set_index("link")
    page = run_page(path)

    # Away for 15 of 30 rounds.
    at = facts.graph.first_uplink + facts.graph.labels.index("Tokyo")
    assert ring.models[at] == pytest.approx(0.5, abs=0.05)
    assert ring.models[at] == links.bits["Tokyo uplink"] / (30 * facts.record.work.model_bits)
    assert (
        "The simulation includes changing capacities and absent silos, of which closed forms know nothing."
        in page
    )
    assert re.search(r"100 Mbps; mean with events: star [0-9.]+ Mbps, ring [0-9.]+ Mbps", page)
    assert "no events." in page


def test_an_impossible_paper_marks_its_ratio_too():
    star = {
        "star": True,
        "fixed": [0.0],
        "shared": [4e8],
        "sending": (0.0, 0.0),
        "load": (1.0, 0.0),
        "need": ["", ""],
    }
    ring = {**star, "star": False, "shared": [1e8], "load": (3e8, 0.0), "busiest": ["a", "b"]}
    texts = row_texts([{**star, "busiest": ["a", "b"]}, ring], 1, 1e8)

    assert texts[0] == "!1.000 s"
    assert texts[3] == "!4.00x"


def test_a_logarithmic_time_axis_says_that_it_lacks_round_0(facts):
    assert "round 0, which is at time 0, has no place" in training_charts([facts.record], facts.scenario)


def test_links_that_need_no_time_are_not_the_busiest(tmp_path):
    facts = run_facts(write_pair_run(tmp_path / "pair.h5"))

    data = slider_data(facts)["overlays"]
    assert row_texts(data, 0, 1e8)[5] != "none"
    assert row_texts([{**each, "load": (0.0, 0.0)} for each in data], 0, 1e8)[5] == "none"
    assert _link_text(facts, ()) == "none"
    assert _need_text(facts, ()) == ""
    assert _need_text(facts, (0,)).endswith(", needs")
    assert _need_text(facts, (0, 1)).startswith("The busiest links, ")


@pytest.mark.parametrize(
    ("own_bps", "said"),
    [
        (1e9, "The run has 1 Gbps."),
        (np.inf, "The run's access links are unlimited, which no place of the slider is."),
        (
            None,
            "The run's access links differ; the slider gives all of them one capacity, so that no place is the run.",
        ),
    ],
)
def test_the_slider_says_where_the_run_is(own_bps, said):
    facts = SimpleNamespace(own_bps=own_bps, capacities_bps=(1e8, 1e9, 1e10), start=1)
    assert f">{said} Closed forms of the same arcs".replace("'", "&#x27;") in slider_controls(facts)


@pytest.mark.parametrize(
    ("own_bps", "start"), [(1e8, 0), (1e9, 1), (2e9, 1), (5e9, 2), (1e12, 2), (np.inf, 2), (None, 1)]
)
def test_the_slider_starts_at_the_run_s_capacity_or_the_nearest_to_its_median(own_bps, start):
    graph = SimpleNamespace(up_bps=np.array([1e7, 9e8, 1e10]), down_bps=np.array([1e10, 1e9, 1e10]))
    assert _start(graph, own_bps, (1e8, 1e9, 1e10)) == start


def test_the_part_of_a_line_that_no_network_can_do_is_a_line_of_its_own():
    # Paper falls as 1 / capacity, load is 2 s, so that from 0.5 on paper is below load.
    x = np.array([0.25, 0.5, 1.0, 2.0])
    line = ChartLine(style="k0", x=x, y=1 / x)
    each = SimpleNamespace(forms=SimpleNamespace(at=lambda x: (1 / x, 1 / x, 2.0)))
    below = _impossible(each, line)
    assert (below.style, below.has_dots) == ("below", False)
    np.testing.assert_array_equal(below.x, x)
    np.testing.assert_array_equal(below.y, [np.nan, np.nan, 1.0, 0.5])
    possible = SimpleNamespace(forms=SimpleNamespace(at=lambda x: (1 / x, 1 / x, 0.5)))
    assert _impossible(possible, line) is None


def test_links_without_a_limit_have_no_upgrade():
    graph = connectivity(
        load_underlay("gaia"), access=AccessLinks(up_bps=np.inf, down_bps=np.inf), core=np.inf
    )
    assert single_upgrades(design("ring", graph, Workload.preset("femnist"))) == ()
