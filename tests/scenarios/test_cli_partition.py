"""``silosim partition``: sizes, labels and divergences of a split, and its files."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.label_shares import label_counts
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.scenario import parse_scenario
from scenarios.config.silo_places import is_european, silo_places
from scenarios.report.figure_style import FigureStyle
from scenarios.studies.label_divergence import divergences_bits
from scenarios.studies.partition import Division, _notes, _number, divide
from scenarios.studies.partition_plot import plot_partition
from scenarios.studies.run import plan_run
from training import TrainingConfig
from training.data.datasets import Dataset, load_dataset
from training.data.partitions import split


@pytest.fixture
def use_data(monkeypatch):
    """Let every data set be this one."""

    def use(**parts):
        size = len(parts["train_labels"])
        data = Dataset(
            train_inputs=np.zeros((size, 1)),
            test_inputs=np.zeros((1, 1)),
            test_labels=np.zeros(1, dtype=np.int64),
            **{"classes": int(np.max(parts["train_labels"])) + 1, **parts},
        )
        monkeypatch.setattr("scenarios.config.label_shares.load_dataset", lambda *_: data)

    return use


def silos_at(*places, silos=None):
    """A network of routers at these latitudes and longitudes, the first of which have a silo, by default all."""
    latitude_deg, longitude_deg = np.array(places).T
    underlay = SimpleNamespace(latitude_deg=latitude_deg, longitude_deg=longitude_deg)
    count = len(places) if silos is None else silos
    return SimpleNamespace(silos=count, router=np.arange(count), underlay=underlay)


def test_disjoint_labels_are_one_bit_apart_and_proportional_ones_none():
    bits = divergences_bits(np.array([[4, 2, 0, 0], [0, 0, 9, 1], [2, 1, 0, 0]]))

    np.testing.assert_allclose(bits, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], atol=1e-15)
    assert bits.max() <= 1.0


def test_divergence_of_half_shared_labels():
    # m = (3/4, 1/4): (log2(4/3) + (log2(2/3) + log2(2)) / 2) / 2 = 3/2 - 3/4 log2(3).
    bits = divergences_bits(np.array([[7, 0], [5, 5]]))

    assert bits[0, 1] == pytest.approx(1.5 - 0.75 * np.log2(3), rel=1e-12)


def test_nearly_equal_labels_are_no_nan():
    bits = divergences_bits(np.array([[10**9, 10**9 + k] for k in range(40)]))

    assert np.isfinite(bits).all()
    assert bits.max() < 1e-15


def test_padding_is_no_label():
    labels = np.array([[0, 2, -100], [2, -100, -100], [1, 1, 1]])

    assert label_counts(labels, [np.array([0, 1]), np.array([2])], 4).tolist() == [[1, 0, 2, 0], [0, 3, 0, 0]]


def test_table_says_what_the_split_says(silosim):
    labels = load_dataset("digits").train_labels
    shares = split("dirichlet", labels, silos=11, alpha=0.3, seed=5)
    sizes = np.array([share.size for share in shares])
    result = silosim("partition", "gaia", "--alpha", "0.3", "--seed", "5", "--json")
    whole = json.loads(result.out)
    samples, different, divergence = whole["rows"]

    assert (result.code, result.err) == (0, "")
    assert samples == {
        "of": "samples per silo",
        "mean": pytest.approx(1442 / 11),
        "stdev": pytest.approx(np.sqrt(np.mean((sizes - 1442 / 11) ** 2))),
        "min": sizes.min(),
        "max": sizes.max(),
    }
    assert different["min"] == min(len(set(labels[share].tolist())) for share in shares)
    bits = np.array(whole["divergence_bits"])
    np.testing.assert_array_equal(bits, bits.T)
    assert divergence["mean"] == pytest.approx(bits.sum() / (11 * 10))
    assert [silo["samples"] for silo in whole["silos"]] == sizes.tolist()
    assert whole["silos"][4]["divergence_max_bits"] == bits[4].max()


@pytest.mark.slow
def test_terminal_has_80_columns_and_files_are_written(silosim, tmp_path):
    files = [tmp_path / name for name in ("a.png", "a.svg", "a.pdf", "a.csv")]
    result = silosim(
        "partition", "exodus", "--partition", "iid", *(x for file in files for x in ("-o", file))
    )
    rows = list(csv.DictReader(io.StringIO(files[3].read_text())))

    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert "iid, seed 0, over 79 silos of exodus" in result.out
    assert "fewest samples: " in result.out
    assert "Jensen-Shannon, base 2" in result.out
    assert "1442 training samples" in result.out
    assert [file.read_bytes()[:4] for file in files[:3]] == [b"\x89PNG", b"<?xm", b"%PDF"]
    assert sum(int(row["samples"]) for row in rows) == 1442
    assert {int(row["samples"]) for row in rows} == {18, 19}
    assert result.err.startswith("written: ")


def test_labels_of_sequences_count_at_every_position(silosim, use_data):
    use_data(train_labels=np.tile([0, 1, 1, -100], (22, 1)), classes=3)
    text = silosim("partition", "gaia", "--partition", "iid").ok().out

    assert "labels of sequences count at every position." in text
    assert "of 3 in the data set" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (123456, "123456"),
        (144.25, "144.2"),
        (100.0, "100.0"),
        (99.9994, "99.999"),
        (36.05, "36.050"),
        (0.5, "0.500"),
        (0.1, "0.100"),
        (0.0999, "0.0999"),
        (0.00452, "0.00452"),
        (0.0, "0.000"),
    ],
)
def test_small_numbers_keep_three_digits(value, text):
    assert _number(value) == text


def test_groups_are_counted(silosim, use_data):
    use_data(train_labels=np.zeros(440, dtype=np.int64), train_groups=np.arange(440) // 4)
    whole = json.loads(silosim("partition", "gaia", "--partition", "groups", "--json").ok().out)

    assert [row["of"] for row in whole["rows"]][:2] == ["samples per silo", "groups per silo"]
    assert whole["rows"][1]["mean"] == 10
    assert all(silo["samples"] == 4 * silo["groups"] for silo in whole["silos"])


def test_scenario_gives_network_training_and_seed_and_options_change_them(silosim, scenario):
    scenario.write_text(scenario.read_text() + 'partition = "iid"\n')
    told = silosim("partition", scenario).ok().out
    changed = (
        silosim("partition", scenario, "--partition", "dirichlet", "--alpha", "2", "--seed", "8").ok().out
    )

    assert "iid, seed 3, over 11 silos of gaia" in told
    assert "dirichlet, alpha 2, seed 8, over 11 silos of gaia" in changed
    assert changed == silosim("partition", "gaia", "--alpha", "2", "--seed", "8").ok().out


def test_the_folder_of_a_scenario_is_not_of_the_digits(silosim, scenario):
    text = scenario.read_text().replace('model = "softmax"', 'model = "softmax"\ndata = "/nowhere"')
    scenario.write_text(text + 'dataset = "femnist"\n')

    assert "must be the femnist folder" in silosim("partition", scenario).failed(2).err
    assert "digits: 1442 training samples" in silosim("partition", scenario, "--dataset", "digits").ok().out


def test_one_silo_has_everything(silosim):
    result = silosim("partition", "gaia", "--silo-at", "Tokyo", "--json")
    whole = json.loads(result.out)

    assert result.code == 0
    assert [row["of"] for row in whole["rows"]] == ["samples per silo", "labels per silo"]
    assert whole["rows"][0]["min"] == whole["rows"][0]["max"] == 1442
    assert whole["silos"][0]["divergence_mean_bits"] is None
    assert "divergence" not in silosim("partition", "gaia", "--silo-at", "Tokyo").ok().out


def test_the_colours_of_a_picture_reach_the_largest_divergence(silosim, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "scenarios.studies.partition_plot.save_figure", lambda figure, _path: drawn.append(figure)
    )
    silosim("partition", "gaia", "--partition", "iid", "-o", tmp_path / "x.png").ok()
    rows = json.loads(silosim("partition", "gaia", "--partition", "iid", "--json").ok().out)["rows"]
    (image,) = drawn[0].axes[1].images
    assert image.get_clim() == (0, pytest.approx(rows[-1]["max"], rel=1e-9))


def test_long_names_leave_the_panels_their_room(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "scenarios.studies.partition_plot.save_figure", lambda figure, _path: drawn.append(figure)
    )
    names = tuple(f"Regional University Hospital Department {number:02}" for number in range(6))
    division = divide(build_network(NetworkConfig(underlay="gaia")), TrainingConfig(), 0)
    plot_partition(replace(division, silos=names + division.silos[6:]), Path("x.png"))
    shown = [label.get_text() for label in drawn[0].axes[1].get_xticklabels()]

    assert max(map(len, shown)) <= 20
    assert [name[-2:] for name in shown[:6]] == ["00", "01", "02", "03", "04", "05"]
    assert shown[6:] == list(division.silos[6:])


@pytest.mark.parametrize(
    ("width_in", "size_in", "names", "numbers", "is_below"),
    [
        # By itself 11.4 by 6.4 inches. Here the matrix is 7 * 6.4 / (3.2 + 6.4) - 1.9 inches wide, and the figure no
        # higher than it needs.
        (7.0, (7.0, 7 * 6.4 / 9.6), (20, 20), 0, False),
        # Bars of 0.6 * 6.4 above a matrix of 0.75 * 3.5 inches, and three rows of text.
        (3.5, (3.5, 3.84 + 2.625 + 2.1), (40, 20), 40, True),
    ],
)
def test_names_of_a_picture_have_their_room(monkeypatch, width_in, size_in, names, numbers, is_below):
    drawn = []
    monkeypatch.setattr(
        "scenarios.studies.partition_plot.save_figure", lambda figure, _path: drawn.append(figure)
    )
    division = Division(
        silos=tuple(f"Site {silo:02}" for silo in range(40)),
        about="",
        notes=(),
        samples=np.arange(1, 41),
        groups=None,
        label_counts=np.eye(40, dtype=np.int64),
        divergence_bits=1 - np.eye(40),
    )
    plot_partition(division, Path("x.png"), style=FigureStyle(width_in=width_in))
    (figure,) = drawn
    figure.draw_without_rendering()
    bars, matrix = figure.axes[:2]
    boxes = [panel.get_window_extent() for panel in (bars, matrix)]

    assert figure.get_size_inches() == pytest.approx(size_in)
    assert (len(bars.get_yticklabels()), len(matrix.get_yticklabels())) == names
    assert len(bars.texts) == numbers
    assert bool(boxes[1].y1 < boxes[0].y0) is is_below
    for panel, box in zip((bars, matrix), boxes, strict=True):
        shown = panel.get_yticklabels()
        line_in = shown[0].get_fontsize() / 72
        assert line_in * len(shown) < box.height / figure.dpi


def test_picture_of_one_silo(silosim, tmp_path):
    result = silosim("partition", "gaia", "--silo-at", "Tokyo", "-o", tmp_path / "one.png")

    assert result.code == 0
    assert (tmp_path / "one.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "european"),
    [("gaia", False), ("aws_na", False), ("geant", True), ("exodus", False), ("ebone", True)],
)
def test_european_networks_move_90_degrees_to_the_west(name, european):
    graph = build_network(NetworkConfig(underlay=name))
    training = TrainingConfig(partition="geographic")
    longitude = graph.underlay.longitude_deg
    moved = (longitude - (90.0 if european else 0.0) + 180) % 360 - 180

    assert is_european(graph) is european
    np.testing.assert_allclose(silo_places(graph, training)[:, 1], moved)
    np.testing.assert_array_equal(silo_places(graph, training)[:, 0], graph.underlay.latitude_deg)
    assert silo_places(graph, TrainingConfig(partition="iid")) is None


@pytest.mark.parametrize(
    ("place", "european"),
    [
        *(((34.0, 45.0), True), ((72.0, -25.0), True), ((34.0, -25.0), True), ((72.0, 45.0), True)),
        *(
            ((33.999, 10.0), False),
            ((72.001, 10.0), False),
            ((50.0, -25.001), False),
            ((50.0, 45.001), False),
        ),
    ],
)
def test_the_borders_of_europe_belong_to_it(place, european):
    assert is_european(silos_at(place)) is european


@pytest.mark.parametrize(("inside", "outside", "european"), [(2, 2, False), (3, 2, True), (2, 3, False)])
def test_a_network_is_european_with_more_than_half_of_its_silos(inside, outside, european):
    graph = silos_at(
        *[(50.0, 10.0)] * inside, *[(50.0, 100.0)] * outside, *[(50.0, 10.0)] * 9, silos=inside + outside
    )
    assert is_european(graph) is european


def test_silos_without_coordinates_are_not_in_europe():
    assert is_european(silos_at((50.0, 10.0), (50.0, 10.0), (np.nan, 10.0))) is True
    assert is_european(silos_at((50.0, 10.0), (50.0, np.nan))) is False


def test_longitudes_stay_in_one_turn():
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Sao Paulo",)))
    (place,) = silo_places(graph, TrainingConfig(partition="geographic", shift_west_deg=180.0))

    # 46.6 degrees west and 180 more is 133.4 degrees east.
    assert place[1] == pytest.approx(133.4, abs=0.1)


def test_a_run_trains_on_the_places_of_its_silos(small_scenario, monkeypatch):
    checked = []
    # The digits have no places.
    monkeypatch.setattr(
        "scenarios.studies.run.check_data",
        lambda _config, **settings: checked.append(settings["silo_places"]),
    )
    text = small_scenario.replace('"gaia"', '"geant"') + 'partition = "geographic"\nshift_west_deg = 12.5\n'
    plan = plan_run(parse_scenario(text, source="small.toml"))

    underlay = plan.graph.underlay
    np.testing.assert_allclose(plan.silo_places.T, [underlay.latitude_deg, underlay.longitude_deg - 12.5])
    assert plan_run(parse_scenario(small_scenario, source="small.toml")).silo_places is None
    assert checked[0] is plan.silo_places
    assert checked[1] is None


def test_pictures_of_chicago_go_to_the_spanish_silo_of_geant(silosim, use_data):
    chicago, unknown = (41.9, -87.6), (np.nan, np.nan)
    use_data(train_labels=np.zeros(8000, dtype=np.int64), train_places=np.array([chicago] * 7999 + [unknown]))

    def samples(*more):
        out = silosim("partition", "geant", "--partition", "geographic", *more, "--json").ok().out
        return {silo["silo"]: silo["samples"] for silo in json.loads(out)["silos"]}

    # Moved by 90 degrees, Madrid lies at 40.4 N, 93.7 W: 540 km from Chicago; Milan's 680 and Paris' 770 km.
    moved, unmoved = samples(), samples("--shift-west", "0")
    others = [count for silo, count in moved.items() if silo != "ES"]

    # Of 7,999 with a place 3,999 go to the closest; the other 4,001 are dealt out to 40.
    assert moved["ES"] == 3999 + 100
    assert sorted(others) == [100] * 38 + [101]
    assert unmoved["IS"] == 3999 + 100
    assert unmoved["ES"] == 100
    text = silosim("partition", "geant", "--partition", "geographic").ok().out
    assert "silos moved 90 degrees to the west" in text
    assert "samples without a place, dealt out evenly: 1." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--partition", "dirichlett"), "did you mean 'dirichlet'?"),
        (("--partition", "groups"), "partition(='groups') must have data with groups"),
        (("--partition", "geographic"), "partition(='geographic') must have data with places"),
        (("--alpha", "0"), "error: alpha(=0.0) must be > 0."),
        (("--alpha", "nan"), "error: alpha(=nan) must be a finite number."),
        (
            ("--partition", "iid", "--alpha", "1"),
            "alpha(=1.0) goes with the partition dirichlet, not with iid.",
        ),
        (
            ("--partition", "geographic", "--shift-west", "nan"),
            "error: shift_west(=nan) must be a finite number.",
        ),
        (("--shift-west", "90"), "shift_west(=90.0) goes with the partition geographic, not with dirichlet."),
        (("--seed", "-1"), "seed(=-1) must be >= 0"),
        (("--dataset", "digit"), "did you mean 'digits'?"),
        (
            ("--data", "sent"),
            "data(='sent') goes with a dataset that is read from a folder, not with digits.",
        ),
        (("-o", "x.doc"), "output(='x.doc') must end in one of .png, .svg, .pdf, .csv, .json, .txt."),
        (("--silo-at", "Paris"), "silo_at(='Paris') must be one of"),
    ],
)
def test_errors_are_one_line(silosim, arguments, message):
    result = silosim("partition", "gaia", *arguments)

    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err


def test_a_scenario_names_its_own_routers(silosim, scenario):
    result = silosim("partition", scenario, "--silo-at", "Tokyo")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "--silo-at goes with the name of a network" in result.err


def test_routers_without_coordinates_are_named():
    graph = SimpleNamespace(
        underlay=SimpleNamespace(
            name="mine", latitude_deg=np.array([1.0, np.nan]), longitude_deg=np.array([1.0, np.nan])
        ),
        router=np.arange(2),
        labels=("A", "B"),
        silos=2,
    )
    with pytest.raises(ValueError, match=r"router 'B' of 'mine' must have a latitude and a longitude\."):
        silo_places(graph, TrainingConfig(partition="geographic"))


def test_what_was_skipped_or_moved_is_said(monkeypatch):
    monkeypatch.setattr("scenarios.studies.partition.shift_west_deg", lambda *_: 12.5)
    moved = "closest silo: silos moved 12.5 degrees to the west, half of all samples with a place."
    nan = np.nan

    def notes(partition, **parts):
        usual = {"train_labels": np.zeros(3), "skipped": 0, "opened": True, "train_places": None}
        return _notes(None, SimpleNamespace(partition=partition), SimpleNamespace(**usual | parts))

    places = np.array([[1.0, 2.0], [nan, nan], [3.0, nan]])
    assert notes("geographic") == notes("iid", train_places=places) == []
    assert notes("geographic", train_places=places[:1]) == [moved]
    # Half of a place is none.
    assert notes("geographic", train_places=places) == [
        moved,
        "samples without a place, dealt out evenly: 2.",
    ]
    assert notes("iid", skipped=4, opened=False, train_labels=np.zeros((3, 5))) == [
        "labels of sequences count at every position.",
        "bad samples left out: 4.",
        "images were not opened: --skip-bad leaves out those that do not decode.",
    ]
