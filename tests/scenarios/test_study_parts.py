"""Parts of a study by themselves: which trainings it takes, files and hashes of its points, and its errors."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.config.study import parse_study
from scenarios.studies import study as module
from scenarios.studies.study import (
    _capacities,
    _check_training,
    _compute_left,
    _data_of,
    _digest,
    _errors,
    _example,
    _files,
    _is_new,
    _is_placed,
    _of_overlay,
    _sizes_messages,
    _table_rows,
    columns_of,
)
from topologies import InputError, MachineError
from topologies.errors import Field
from training.history import DIVERGED


def scenario_of(*, trains=True, preset="femnist", model_size=None, compression="none", labels=()):
    return SimpleNamespace(
        training=SimpleNamespace(compression=compression) if trains else None,
        workload=SimpleNamespace(preset=preset, model_size=model_size),
        overlays=SimpleNamespace(overlays=[SimpleNamespace(takes_label_shares=each) for each in labels]),
    )


def study_with(*, train=False, run=None, grid=(), points=(), base=("training",)):
    config = SimpleNamespace(
        train=train, run=run, grid=dict.fromkeys(grid), keys=[*grid, *points], simulate=False
    )
    return SimpleNamespace(config=config, base=dict.fromkeys(base), source="study.toml")


@pytest.mark.parametrize(
    ("scenario", "sizes"),
    [
        ({"trains": False, "preset": None}, False),
        ({}, False),
        ({"compression": "top_k"}, True),
        ({"preset": None}, True),
        ({"preset": None, "model_size": "1 MB"}, False),
        ({"preset": "femnist", "model_size": "1 MB"}, False),
    ],
)
def test_the_size_of_messages_depends_on_a_training_that_compresses_or_states_no_size(scenario, sizes):
    assert _sizes_messages(scenario_of(**scenario)) is sizes


@pytest.mark.parametrize(
    ("study", "scenarios", "error"),
    [
        ({"base": ()}, [{"trains": False}], None),
        (
            {},
            [{}],
            "study.toml: training goes with silosim run or train = true in [study], unless an overlay takes",
        ),
        ({"run": Path("run.h5")}, [{}], None),
        # One point that needs it is enough.
        ({}, [{}, {"compression": "top_k"}], None),
        ({}, [{}, {"labels": (False, True)}], None),
        ({}, [{"labels": (False, False)}], "study.toml: training goes with silosim run"),
        (
            {"grid": ("seed", "training.partition"), "base": ()},
            [{}],
            "study.toml: study.grid.training.partition changes nothing that a study without train = true computes",
        ),
        ({"points": ("training.alpha",)}, [{}], "study.toml: study.points.training.alpha changes nothing"),
        ({"grid": ("training.alpha",)}, [{"labels": (True,)}], None),
        ({"grid": ("seed",), "base": ()}, [{}], None),
    ],
)
def test_a_training_that_no_point_needs_is_refused(study, scenarios, error):
    made = [scenario_of(**each) for each in scenarios]
    if error is None:
        _check_training(study_with(**study), made)
        return
    with pytest.raises(InputError) as caught:
        _check_training(study_with(**study), made)
    assert str(caught.value).replace("'", "").replace('"', "").startswith(error)


def test_a_study_that_trains_needs_a_training_and_hubs_at_all_points(monkeypatch):
    checked = []
    monkeypatch.setattr(module, "check_hubs", checked.append)
    scenarios = [scenario_of(), scenario_of()]
    _check_training(study_with(train=True), scenarios)
    assert checked == scenarios
    with pytest.raises(
        InputError, match=r"study\.train\(=True\) goes with a scenario that has \[training\]\."
    ):
        _check_training(study_with(train=True), [scenario_of(), scenario_of(trains=False)])


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("1 Gbps", "1000 Mbps", True),
        ("1 Gbps up, 1 Gbps down", "1 Gbps", True),
        ("1 Gbps up, 2 Gbps down", "2 Gbps down, 1 Gbps up", True),
        ("1 Gbps up, 2 Gbps down", "1 Gbps", False),
        ("ring", "ring", True),
        ("ring", "star", False),
        (1e9, "1 Gbps", False),
        (5, 5, True),
    ],
)
def test_one_capacity_may_be_written_in_two_ways(one, other, is_same):
    assert (_capacities(one) == _capacities(other)) is is_same


@pytest.mark.parametrize(
    ("error", "is_new"), [("", False), ("no GPU is there.", True), (f"{DIVERGED} in round 3", False)]
)
def test_points_with_an_error_are_new_unless_their_training_diverged(error, is_new):
    assert _is_new(error) is is_new


def test_data_sets_are_told_apart_by_what_labels_and_sizes_depend_on():
    def data(**changes):
        given = {
            "data_options": (),
            "dataset": "digits",
            "partition": "iid",
            "backend": "silosim",
            "backend_options": {},
            "rounds": 3,
        }
        return _data_of(SimpleNamespace(training=SimpleNamespace(**given | changes)))

    assert _data_of(SimpleNamespace(training=None)) == ""
    assert data() == data(rounds=9)
    changed = [{"data_options": (1,)}, {"dataset": "femnist"}, {"partition": "dirichlet"}, {"backend": "own"}]
    assert len({data(), *(data(**each) for each in changed), data(backend_options={"a": 1})}) == 6


@pytest.mark.parametrize(
    ("kind", "is_file", "options", "is_placed"),
    [
        ("ring", False, {}, False),
        ("ring", False, {"order": "tour"}, False),
        ("", False, {}, True),
        ("ring", True, {}, True),
        ("star", False, {"hub": "Tokyo"}, True),
    ],
)
def test_overlays_of_files_and_with_a_hub_name_silos(kind, is_file, options, is_placed):
    config = SimpleNamespace(kind=kind, consensus_is_file=is_file, options=options)
    assert _is_placed(config) is is_placed


def test_an_error_of_an_overlays_option_is_within_its_table():
    option = InputError("must be a silo.", field=Field("hub", value="x"))
    assert str(_of_overlay("star", option)) == "overlays.star.hub(='x') must be a silo."
    for error in (InputError("has no silo."), InputError("wrong.", field=Field("hub"), source="arcs.csv")):
        assert _of_overlay("star", error) is error


def inputs_of(tmp_path, *, routes=None, consensus_is_file=True):
    network = SimpleNamespace(
        sites="sites.csv",
        links="links.csv",
        pairs=None,
        bandwidth_matrix=None,
        latency_matrix="latency.csv",
        underlay=None,
        routes=routes,
    )
    configs = [
        SimpleNamespace(file="arcs.csv", consensus="w.csv", consensus_is_file=consensus_is_file),
        SimpleNamespace(file="", consensus="metropolis", consensus_is_file=False),
    ]
    (tmp_path / "matrices").mkdir()
    for name in ("b.csv", "a.csv"):
        (tmp_path / "matrices" / name).write_text("x")
    files = ("trace.csv", str(tmp_path / "matrices"))
    return SimpleNamespace(
        network=network, overlays=SimpleNamespace(overlays=configs), simulation=SimpleNamespace(files=files)
    )


def test_a_point_depends_on_the_files_of_its_network_overlays_and_events(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "sequence_files", lambda folder: sorted(folder.iterdir()))
    events = ["trace.csv", *(str(tmp_path / "matrices" / name) for name in ("a.csv", "b.csv"))]
    network = ["sites.csv", "links.csv", "latency.csv"]
    plain = inputs_of(tmp_path)
    assert list(_files(plain, None)) == [*network, "arcs.csv", "w.csv", *events]
    plain.network.routes = "routes.csv"
    plain.overlays.overlays[0].consensus_is_file = False
    assert list(_files(plain, None)) == [*network, "routes.csv", "arcs.csv", *events]

    def replayed(*keys):
        return list(_files(plain, SimpleNamespace(path=Path("run.h5"), network_keys=frozenset(keys))))

    # A replay has its overlays, and a network that stays, from the run.
    assert replayed() == replayed("access") == ["run.h5", *events]
    assert replayed("routes") == ["run.h5", "routes.csv", *events]
    assert replayed("sites", "links") == ["run.h5", *network, "routes.csv", *events]


def test_the_hash_of_a_file_has_its_name_and_content_and_is_made_once(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x\n")
    second.write_text("x\n")
    known = {}
    digest = _digest(str(first), known)
    assert known == {str(first): digest}
    assert digest != _digest(str(second), {})
    first.write_text("y\n")
    assert _digest(str(first), known) == digest != _digest(str(first), {})
    assert _digest("gaia", {}) == ""


def test_the_hash_of_a_long_file_has_all_of_it(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("x\n" * 10)
    whole = _digest(str(path), {})
    monkeypatch.setattr(module, "_PIECE_BYTES", 3)
    assert _digest(str(path), {}) == whole
    path.write_text("x\n" * 9 + "y\n")
    assert _digest(str(path), {}) != whole


@pytest.mark.parametrize(
    ("simulate", "run", "train", "has_simulated", "has_target", "has_trained"),
    [
        (False, None, False, False, False, False),
        (True, None, False, True, False, False),
        (False, Path("run.h5"), False, True, True, False),
        (False, None, True, True, True, True),
    ],
)
def test_columns_are_what_varies_inputs_and_results(
    simulate, run, train, has_simulated, has_target, has_trained
):
    config = SimpleNamespace(simulate=simulate, run=run, train=train)
    points = [SimpleNamespace(varied={"access_bps": 1, "seed": 2}), SimpleNamespace(varied={"other": 1})]
    columns = columns_of(SimpleNamespace(config=config), points)
    assert columns[:4] == ["access_bps", "seed", "other", "network"]
    assert columns[-3:] == ["speedup", "error", "point"]
    assert len(set(columns)) == len(columns)
    assert ("simulated_s" in columns) is has_simulated
    assert ("time_to_target_s" in columns) is has_target
    assert ("final_train_loss" in columns or "run" in columns or train) is has_trained


def test_values_that_results_may_have():
    assert _example("busiest_link") is None
    assert _example("paper_below_load") is _example("simulated_is_exact") is True
    assert _example("paper_s") == 1.0


def test_a_table_that_is_not_there_has_no_rows(tmp_path):
    assert _table_rows(tmp_path / "t.csv", ["a"], {}) == {}


def test_errors_of_a_point_are_one_line_each():
    point = SimpleNamespace(identity="p", varied={"seed": 3, "preset": "femnist"})
    other = SimpleNamespace(identity="q", varied={"seed": 4})
    done = {"p": [{"error": "a."}, {"error": ""}, {"error": "b."}, {"error": "a."}], "q": [{"error": ""}]}
    assert _errors([point, other], done) == ["seed 3, preset femnist: a.", "seed 3, preset femnist: b."]


@pytest.mark.parametrize("done", [{}, {"p0": []}])
def test_finished_points_are_left_out_and_are_kept_where_a_worker_ends(monkeypatch, done):
    points = [
        SimpleNamespace(
            identity=f"p{number}",
            scenario=SimpleNamespace(network=-number, workload=0, overlays=0),
        )
        for number in range(3)
    ]
    file = SimpleNamespace(done=dict(done), path=Path("t.csv.partial"))
    study = SimpleNamespace(config=SimpleNamespace(run=None, simulate=True))
    asked = []

    def compute(left, how, _take, *, pool, workers, title, done):
        asked.append(([point.identity for point in left], how.keywords, pool, workers, title, done))
        raise MachineError("A worker ended.")

    monkeypatch.setattr(module, "compute_all", compute)
    kept = "; the finished points are in t.csv.partial, and the same command goes on" if done else ""
    with pytest.raises(MachineError) as caught:
        _compute_left(study, points, file, "pool", 2)
    assert str(caught.value) == f"A worker ended{kept}."
    left = [f"p{number}" for number in range(3) if f"p{number}" not in done]
    # Points of one network lie side by side.
    left.sort(key=lambda name: str(-int(name[1])))
    assert asked == [(left, {"simulate": True, "compiled": False}, "pool", 2, "study", len(done))]
    file.done = dict.fromkeys(["p0", "p1", "p2"])
    _compute_left(study, points, file, "pool", 2)
    assert len(asked) == 1


@pytest.mark.parametrize(("points", "is_compiled"), [(9, False), (10, True)])
def test_compiled_designs_are_of_ten_points_or_more(monkeypatch, points, is_compiled):
    made = [
        SimpleNamespace(identity=str(number), scenario=SimpleNamespace(network=0, workload=0, overlays=0))
        for number in range(points)
    ]
    found = []
    monkeypatch.setattr(
        module, "compute_all", lambda _left, how, *_, **__: found.append(how.keywords["compiled"])
    )
    study = SimpleNamespace(config=SimpleNamespace(run=None, simulate=False))
    _compute_left(study, made, SimpleNamespace(done={}), None, 1)
    assert found == [is_compiled]


@pytest.fixture
def checked(monkeypatch):
    """Check the scenarios of points; what was built and checked of each."""
    found = []

    class Networks:
        def of(self, network):
            found.append(("network", network.core))
            return f"graph {network.core}"

    def labels(*, graph, training, seed):
        return lambda: found.append(("labels", graph, training.dataset, seed))

    monkeypatch.setattr(module, "Networks", Networks)
    monkeypatch.setattr(module, "workload_of", lambda _, graph: found.append(("work", graph)) or "work")
    monkeypatch.setattr(
        module,
        "check_simulation",
        lambda _settings, graph, _work, *, seed, rounds: found.append(("simulation", graph, seed, rounds)),
    )
    monkeypatch.setattr(
        module, "check_silos_named", lambda config, graph: found.append(("silos", config.name, graph))
    )
    monkeypatch.setattr(module, "check_replay", lambda point: found.append(("replay", point.replay)))
    monkeypatch.setattr(module, "PartitionLabels", labels)

    def check(points, **config):
        found.clear()
        study = SimpleNamespace(
            config=SimpleNamespace(**{"simulate": False, "train": False} | config), source="s.toml"
        )
        module._check_scenarios(study, points)
        return [*found]

    return check


def point_of(
    core=1,
    *,
    hub=None,
    compute=None,
    access_at=None,
    rounds=30,
    kinds=("ring",),
    replay=None,
    dataset="digits",
):
    configs = [
        SimpleNamespace(
            name=kind,
            kind="" if kind == "file" else kind,
            consensus_is_file=False,
            options={},
            takes_label_shares=kind == "stl_fw",
        )
        for kind in kinds
    ]
    training = SimpleNamespace(
        dataset=dataset, data_options=(), partition="iid", backend="silosim", backend_options={}
    )
    return SimpleNamespace(
        replay=replay,
        scenario=SimpleNamespace(
            seed=7,
            network=SimpleNamespace(core=core, without_access=core, access_at=access_at, access_hub=hub),
            workload=SimpleNamespace(preset="femnist", compute=compute, compute_at=None, local_steps_at=None),
            overlays=SimpleNamespace(overlays=configs),
            simulation=SimpleNamespace(rounds=rounds),
            training=training,
        ),
    )


BUILT = [("network", 1), ("work", "graph 1")]


def test_scenarios_that_differ_in_nothing_that_is_checked_are_checked_once(checked):
    assert checked([point_of(), point_of(rounds=99), point_of(dataset="femnist")]) == BUILT
    for other in ({"hub": "A"}, {"compute": "1 s"}, {"access_at": {"A": "1 Gbps"}}):
        assert checked([point_of(), point_of(**other)]) == BUILT * 2
    # Which capacity a silo has, has been read; whether there is such a silo, has not.
    assert checked([point_of(access_at={"A": "1 Gbps"}), point_of(access_at={"A": "2 Gbps"})]) == BUILT


@pytest.mark.parametrize("config", [{"simulate": True}, {"train": True}])
def test_simulations_are_checked_where_there_are_any(checked, config):
    points = [point_of(), point_of(rounds=99)]
    assert checked(points, **config) == [
        *BUILT,
        ("simulation", "graph 1", 7, 30),
        *BUILT,
        ("simulation", "graph 1", 7, 99),
    ]


def test_replays_overlays_of_files_and_labels_are_checked(checked):
    assert checked([point_of(replay="a"), point_of(replay="b", rounds=99)]) == [
        ("replay", "a"),
        ("replay", "b"),
    ]
    assert checked([point_of(kinds=("ring", "file"))]) == [*BUILT, ("silos", "file", "graph 1")]
    with_labels = [*BUILT, ("labels", "graph 1", "digits", 7)]
    assert checked([point_of(kinds=("stl_fw",))]) == with_labels
    others = [point_of(kinds=("stl_fw",)), point_of(kinds=("stl_fw",), dataset="femnist")]
    assert checked(others)[2::3] == [with_labels[-1], ("labels", "graph 1", "femnist", 7)]


def test_twenty_networks_are_built_before_any_point_is_computed(checked):
    points = [point_of(core) for core in range(30)]
    assert [name for name, *_ in checked(points)].count("network") == 20
    assert [name for name, *_ in checked(points[:20])].count("network") == 20


def test_what_the_machine_lacks_is_no_error_of_the_study(checked, monkeypatch):
    def lacks(*_):
        raise MachineError("no memory.")

    monkeypatch.setattr(module, "workload_of", lacks)
    assert checked([point_of(), point_of(2)]) == [("network", 1), ("network", 2)]

    def wrong(*_):
        raise InputError("must be >= 1.")

    monkeypatch.setattr(module, "workload_of", wrong)
    with pytest.raises(InputError, match=r"^s\.toml: must be >= 1\.$"):
        checked([point_of()])


BASE = """
name = "{name}"
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring", "star"]
[simulation]
rounds = {rounds}
"""
TRAINING = """
[training]
dataset = "digits"
model = "softmax"
rounds = {trained}
checkpoint_every = {every}
ranks = {ranks}
"""


def identity_of(simulate=False, replay=None, *, trains=False, training=True, **changes):
    values = {"name": "a", "rounds": 30, "trained": 10, "every": 2, "ranks": 1} | changes
    text = (BASE + (TRAINING if training else "")).format(**values)
    return module.point_identity(parse_scenario(text, source="s.toml"), simulate, {}, replay, trains=trains)


def test_a_point_is_what_its_numbers_follow_from():
    plain = identity_of()
    assert plain == identity_of(name="b") == identity_of(rounds=99)
    assert plain == identity_of(every=5) == identity_of(ranks=2)
    assert plain != identity_of(trained=11)
    assert plain != identity_of(training=False) == identity_of(training=False, rounds=99)
    simulated = identity_of(simulate=True)
    assert simulated == identity_of(simulate=True, name="b") == identity_of(simulate=True, ranks=2)
    assert len({plain, simulated, identity_of(simulate=True, rounds=99)}) == 3


def test_a_replay_is_of_its_run_and_its_simulation(tmp_path):
    for name in ("a.h5", "b.h5"):
        (tmp_path / name).write_text("x")
    first, second = (
        SimpleNamespace(path=tmp_path / name, network_keys=frozenset()) for name in ("a.h5", "b.h5")
    )
    assert identity_of(replay=first) == identity_of(replay=first, name="b")
    assert len({identity_of(), identity_of(replay=first), identity_of(replay=second)}) == 3
    assert identity_of(replay=first) != identity_of(replay=first, rounds=99)


def test_another_version_may_have_other_numbers(monkeypatch):
    plain = identity_of()
    monkeypatch.setattr(module, "_version", lambda: "another")
    assert identity_of() != plain


def test_names_take_the_place_of_paths_wherever_they_are():
    names = {"x/a.csv": "a.csv", "y/b.csv": "b.csv"}
    given = {"file": "x/a.csv", "more": ["y/b.csv", ("x/a.csv", 3)], "x/a.csv": None, "other": "x/c.csv"}
    assert module._by_name(given, names) == {
        "file": "a.csv",
        "more": ["b.csv", ["a.csv", 3]],
        "x/a.csv": None,
        "other": "x/c.csv",
    }


def points_of(tmp_path, tables, base=BASE):
    text = base.format(name="a", rounds=30, trained=10, every=2, ranks=1) + tables
    return module.study_points(parse_study(text, source="study.toml", folder=tmp_path))


def test_points_have_what_varies_their_rows_and_where_they_train_their_text(tmp_path):
    first, second = points_of(tmp_path, '[study.grid]\n"network.access" = ["100 Mbps", "1 Gbps"]\n')
    assert (first.varied, second.varied) == ({"access_bps": 1e8}, {"access_bps": 1e9})
    assert (first.rows, first.text, first.replay, first.unsaid) == (2, "", None, {})
    assert first.identity != second.identity
    (trained, _) = points_of(
        tmp_path, "[study]\ntrain = true\n[study.grid]\nseed = [1, 2]\n", BASE + TRAINING
    )
    assert "seed = 1" in trained.text
    assert "[training]" in trained.text
    assert "[study" not in trained.text


def test_a_point_of_a_list_has_the_scenarios_values_of_the_keys_of_others(tmp_path):
    each = ('"network.access" = "1 Gbps"', "seed = 4", '"workload.local_steps" = 7')
    points = points_of(tmp_path, "\n".join(f"[[study.points]]\n{line}" for line in each))
    assert [point.varied for point in points] == [
        {"access_bps": 1e9, "seed": 0, "local_steps": 1},
        {"seed": 4, "local_steps": 1},
        {"seed": 0, "local_steps": 7},
    ]
    # What the network has where the scenario says nothing.
    assert [dict(point.unsaid) for point in points] == [{}, *[{"access_bps": "network.access"}] * 2]


@pytest.mark.parametrize(
    ("tables", "is_same"),
    [
        ('[study.grid]\n"network.access" = ["1 Gbps", "1000 Mbps"]\n', True),
        ('[study.grid]\n"network.access_at.Tokyo" = ["1 Gbps", "1 Gbps up, 1 Gbps down"]\n', True),
        ("[[study.points]]\nseed = 0\n[[study.points]]\nseed = 0\n", True),
        ("[[study.points]]\nseed = 0\n[[study.points]]\nseed = 1\n", False),
    ],
)
def test_points_are_different(tmp_path, tables, is_same):
    if is_same:
        with pytest.raises(
            InputError, match=r"^study\.toml: study must give different points; .* are the same\.$"
        ):
            points_of(tmp_path, tables)
    else:
        assert len(points_of(tmp_path, tables)) == 2


def test_one_overlay_that_takes_labels_is_enough(checked):
    assert checked([point_of(kinds=("ring", "stl_fw"))])[-1] == ("labels", "graph 1", "digits", 7)


def row(error=""):
    return {"error": error}


@pytest.fixture
def studied(monkeypatch, tmp_path):
    """Run a study of two points: which are known, which are computed, and what is written."""
    did = SimpleNamespace()

    class File:
        def __init__(self, path, columns):
            assert columns == ["error"]
            self.path, self.done = path, {}

        def found(self, _expected):
            return dict(did.partial)

        def begin(self, done):
            did.kept = list(done)
            self.done = dict(done)

        def add(self, identity, rows):
            self.done[identity] = rows

        def remove(self):
            did.removed = True

        def close(self):
            did.closed = True

    def compute(points, file):
        did.computed = [each.identity for each in points if each.identity not in file.done]
        for identity in did.computed:
            file.add(identity, [row(did.errors.get(identity, ""))])

    points = [SimpleNamespace(identity=name, rows=1, varied={"point": name}) for name in ("a", "b")]
    monkeypatch.setattr(module, "check_alone", lambda: None)
    monkeypatch.setattr(module, "study_points", lambda _: points)
    monkeypatch.setattr(module, "columns_of", lambda *_: ["error"])
    for name in ("check_study_path", "_check_outputs", "_check_scenarios", "check_output"):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(module, "RowsFile", File)
    monkeypatch.setattr(module, "_table_rows", lambda *_: dict(did.table))
    monkeypatch.setattr(
        module, "check_new", lambda _, *, force, resume: did.__dict__.update(new=(force, resume))
    )
    monkeypatch.setattr(module, "_compute_left", lambda _study, points, file, *_: compute(points, file))

    def train(left, take, *, table, source, anew):
        assert table.name == "t.csv"
        did.trained = ([each.identity for each in left], source, anew)
        for each in left:
            take(SimpleNamespace(identity=each.identity, rows=[row()]))

    monkeypatch.setattr(module, "compute_trained", train)
    monkeypatch.setattr(
        module, "write_study", lambda _path, _columns, rows: did.__dict__.update(written=len(rows))
    )

    def run(*, table=(), partial=(), errors=None, train=False, force=False):
        did.__dict__.clear()
        did.table, did.partial = ({name: [row(error)] for name, error in each} for each in (table, partial))
        did.errors = errors or {}
        study = SimpleNamespace(config=SimpleNamespace(train=train), source="s.toml")
        found = module.run_study(study, tmp_path / "t.csv", pool=None, workers=1, force=force)
        assert did.removed
        assert did.closed
        assert found.is_written is hasattr(did, "written")
        return found, did

    return run


def test_a_new_study_computes_all_and_writes_its_table(studied):
    found, did = studied(errors={"b": "wrong."})
    assert (did.kept, did.computed, did.written, did.new) == ([], ["a", "b"], 2, (False, True))
    assert found.errors == ("point b: wrong.",)


def test_what_is_known_is_kept_but_for_errors_that_may_be_mended(studied):
    found, did = studied(table=[("a", "")], partial=[("b", "no GPU.")])
    assert (did.kept, did.computed, did.written, did.new) == (["a"], ["b"], 2, (True, True))
    assert found.errors == ()
    _, did = studied(partial=[("a", f"{DIVERGED}.")])
    assert (did.kept, did.computed) == (["a"], ["b"])


def test_a_complete_table_in_its_order_is_not_written_again(studied):
    found, did = studied(table=[("a", ""), ("b", "")])
    assert (did.computed, found.is_written) == ([], False)
    # The order is that of the study.
    assert studied(table=[("b", ""), ("a", "")])[0].is_written
    # All rows were there, but no table.
    assert studied(partial=[("a", ""), ("b", "")])[0].is_written


def test_with_force_nothing_is_known(studied):
    _, did = studied(table=[("a", "")], partial=[("b", "")], force=True)
    assert (did.kept, did.computed, did.new) == ([], ["a", "b"], (True, True))


@pytest.mark.parametrize("force", [False, True])
def test_points_that_train_do_so_one_after_the_other(studied, force):
    _, did = studied(table=[("a", "")], train=True, force=force)
    assert did.trained == (["a", "b"] if force else ["b"], "s.toml", force)
    assert not hasattr(did, "computed")


def outputs_of(monkeypatch, *, figure=None):
    seen = []
    monkeypatch.setattr(module, "check_published", lambda *given, texts: seen.append((*given, texts)))
    monkeypatch.setattr(module, "_check_figure", lambda *given: seen.append(given))
    configs = [
        SimpleNamespace(name="tour", kind="ring", is_randomized=False),
        SimpleNamespace(name="own", kind="", is_randomized=False),
        SimpleNamespace(name="drawn", kind="matcha", is_randomized=True),
    ]
    scenario = SimpleNamespace(overlays=SimpleNamespace(overlays=configs))
    points = [SimpleNamespace(varied={"seed": 3, "preset": "femnist"}, scenario=scenario)]
    study = SimpleNamespace(config=SimpleNamespace(figure=figure, published=("p",)), source="s.toml")
    module._check_outputs(study, points, ["seed"])
    return seen


def test_figures_and_comparisons_are_checked_with_what_inputs_say(monkeypatch):
    ((published, columns, inputs, texts),) = outputs_of(monkeypatch)
    varied = {"seed": 3, "preset": "femnist"}
    assert (published, columns) == (("p",), ["seed"])
    assert inputs == [
        varied | {"overlay": "tour", "kind": "ring"},
        varied | {"overlay": "own", "kind": "file"},
        varied | {"overlay": "drawn", "kind": "matcha", "serialized_s": None},
    ]
    assert "preset" in texts
    assert "seed" not in texts
    assert outputs_of(monkeypatch, figure="figure")[1] == ("figure", ["seed"], inputs)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"x": "seed", "y": "paper_s"}, None),
        ({}, None),
        ({"x": "sed"}, r"^study\.figure\.x\(='sed'\)"),
        ({"facet": "none"}, r"^study\.figure\.facet\(='none'\)"),
        ({"y": "overlay"}, r"^study\.figure\.y\(='overlay'\) must hold numbers\.$"),
        ({"y": "busiest_link"}, r"^study\.figure\.y\(='busiest_link'\) must hold numbers\.$"),
    ],
)
def test_a_figure_has_columns_of_the_table_and_numbers(monkeypatch, axes, message):
    drawn = []
    monkeypatch.setattr(
        module, "study_lines", lambda frame, *, x, y, facet: drawn.append((frame, x, y, facet))
    )
    figure = SimpleNamespace(**{"x": None, "y": None, "facet": None} | axes)
    columns = ["seed", "overlay", "silos", "paper_s", "busiest_link", "simulated_is_exact"]
    if message is not None:
        with pytest.raises(InputError, match=message):
            module._check_figure(figure, columns, [])
        return
    module._check_figure(figure, columns, [{"seed": 3, "overlay": "ring"}])
    ((frame, x, y, facet),) = drawn
    assert (x, y, facet) == (axes.get("x"), axes.get("y"), None)
    assert list(frame.columns) == columns
    (found,) = frame.to_dict("records")
    assert (found["seed"], found["silos"], found["paper_s"]) == (3, 1, 1.0)
    assert found["busiest_link"] is None
    assert found["simulated_is_exact"]
