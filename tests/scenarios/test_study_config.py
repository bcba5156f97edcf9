"""The table `[study]`: which points there are, which text a name stands for, and what a training study may not have."""

from itertools import product
from pathlib import Path

import pytest

from scenarios.config.study import (
    Study,
    StudyConfig,
    StudyText,
    find_study,
    load_study,
    parse_study,
    parse_trained,
    study_presets,
)
from topologies import InputError


@pytest.mark.parametrize("points", [0, 1, 3])
@pytest.mark.parametrize("lengths", [(), (1,), (4,), (2, 3), (2, 1, 3)])
def test_points_are_all_combinations_with_each_of_those_one_by_one(points, lengths):
    grid = {f"network.k{number}": list(range(length)) for number, length in enumerate(lengths)}
    single = [{"seed": number} for number in range(points)]
    config = StudyConfig(grid=grid, points=single)
    found = [*config.changes()]
    assert len(found) == config.size
    assert found == [
        {**point, **dict(zip(grid, values, strict=True))}
        for point, values in product(single or [{}], [*product(*grid.values())])
    ]
    assert config.keys == (*grid, *(["seed"] if points else []))
    assert config.values("seed") == [*range(points)]


@pytest.mark.parametrize(
    ("text", "trains"),
    [
        ("[training]\n", True),
        ("[training]\n[study]\n", True),
        ("[training]\n[study]\nsimulate = true\n", True),
        ('[training]\n[study]\nrun = "a.h5"\n', False),
        ('[training]\n[study.grid]\n"seed" = [1]\n', False),
        ("[training]\n[[study.points]]\nseed = 1\n", False),
        ("[study]\n", False),
        ("", False),
        ("study = 3\n[training]\n", True),
    ],
)
def test_a_study_trains_once_where_it_has_a_training_and_no_points(text, trains):
    assert StudyText(text=text, source="s.toml", folder=Path(), name="s").trains == trains


def test_a_name_is_that_of_a_file_or_of_a_preset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    preset = study_presets()[0]
    shipped = find_study(Path(preset))
    assert (shipped.source, shipped.name, shipped.folder) == (preset, preset, Path())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.b.toml").write_text("seed = 1")
    own = find_study(Path("sub/a.b.toml"))
    assert (own.text, own.source, own.folder, own.name) == ("seed = 1", "sub/a.b.toml", Path("sub"), "a.b")
    for name in (preset, "without"):
        Path(name).write_text("seed = 2")
        assert find_study(Path(name)).text == "seed = 2"
    with pytest.raises(InputError, match=rf"^study\(='paper-x'\) must be one of .*{preset}"):
        find_study(Path("paper-x"))
    with pytest.raises(InputError, match=r"^x\.toml: cannot be read: No such file"):
        find_study(Path("x.toml"))


def test_files_of_a_study_are_beside_it(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('[study]\nrun = "runs/a.h5"\n[study.grid]\n"network.access" = ["1 Gbps"]\n')
    assert load_study(path).run == tmp_path / "runs/a.h5"
    assert Study(base={}, config=StudyConfig(), folder=tmp_path, source="x").run is None


SCENARIO = '[network]\nunderlay = "gaia"\n[workload]\ncompute = "1 ms"\n[training]\nmodel = "softmax"\n'


def trained(table):
    return parse_trained(StudyText(text=SCENARIO + table, source="s.toml", folder=Path(), name="s"))


@pytest.mark.parametrize("head", ["", "[study]\n", "  [study]\n", "[ study ]\n"])
def test_the_text_of_a_training_study_is_its_scenario_s(head):
    found = trained(head)
    assert found.text == SCENARIO
    assert found.scenario.training.model == "softmax"
    assert found.config == StudyConfig()


@pytest.mark.parametrize(
    "table",
    [
        '[study.grid]\n"seed" = [1]\n',
        "[[study.points]]\nseed = 1\n",
        "[study]\nsimulate = true\n",
        "[study]\ntrain = true\n",
        '[study.figure]\nx = "seed"\n',
    ],
)
def test_a_study_that_is_trained_once_has_nothing_of_points(table):
    with pytest.raises(
        InputError, match=r"^s\.toml: a study with \[training\] is trained once, so it has no grid,"
    ):
        trained(table)


def test_the_table_of_a_training_study_is_its_last():
    with pytest.raises(InputError, match=r"^s\.toml: \[study\] must come after all other tables\.$"):
        trained("[study]\n[simulation]\nrounds = 20\n")


POINT = '[network]\nunderlay = "gaia"\n[study]\n'


@pytest.mark.parametrize(("most", "allowed"), [(4, True), (3, False)])
def test_as_many_points_as_the_limit_are_allowed(monkeypatch, most, allowed):
    monkeypatch.setattr("scenarios.config.study.MOST_POINTS", most)
    text = POINT + 'grid = { seed = [1, 2], "network.access" = ["1 Gbps", "2 Gbps"] }\n'
    if allowed:
        assert parse_study(text, source="s.toml", folder=Path()).config.size == most
        return
    with pytest.raises(InputError, match=r"^s\.toml: study\.grid must be <= 3 points, is 4\.$"):
        parse_study(text, source="s.toml", folder=Path())


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ('grid = { "simulation.rounds" = [10, 20] }', "study.grid.simulation.rounds"),
        ('points = [{ "simulation.rounds" = 10 }]', "study.points.simulation.rounds"),
    ],
)
def test_a_key_that_changes_nothing_is_named_where_it_stands(table, place):
    with pytest.raises(InputError) as caught:
        parse_study(POINT + table, source="s.toml", folder=Path())
    assert str(caught.value).startswith(f"s.toml: {place}")


USUAL, SIMULATED, TRAINED, REPLAYED = "", "simulate = true\n", "train = true\n", 'run = "a.h5"\n'


@pytest.mark.parametrize(
    ("key", "value", "varies"),
    [
        ("network.access", "1 Gbps", (USUAL, SIMULATED, TRAINED, REPLAYED)),
        ("seed", 1, (USUAL, SIMULATED, TRAINED, REPLAYED)),
        ("simulation.rounds", 10, (SIMULATED, TRAINED, REPLAYED)),
        ("training.learning_rate", 0.1, (TRAINED, REPLAYED)),
        # These decide the size of messages.
        ("training.model", "cnn", (USUAL, SIMULATED, TRAINED, REPLAYED)),
        ("training.compression_ratio", 0.1, (USUAL, SIMULATED, TRAINED, REPLAYED)),
        ("name", "x", ()),
    ],
)
@pytest.mark.parametrize("own", [USUAL, SIMULATED, TRAINED, REPLAYED])
def test_keys_vary_where_they_change_what_is_computed(key, value, varies, own):
    text = f'{POINT}{own}grid = {{ "{key}" = [{value!r}] }}\n'.replace("'", '"')
    if own in varies:
        assert parse_study(text, source="s.toml", folder=Path()).config.keys == (key,)
        return
    with pytest.raises(
        InputError,
        match=rf"^s\.toml: study\.grid\.{key} (changes nothing|goes with simulate = true, train = true or run)",
    ):
        parse_study(text, source="s.toml", folder=Path())
