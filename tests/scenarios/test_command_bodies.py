"""What commands do with what others compute: which files, in which case, and what they say; nothing is computed."""

import inspect
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from scenarios.cli import (
    calibrate,
    demo,
    explain,
    export,
    import_metrics,
    plot,
    replay,
    run,
    show,
    simulate,
    study,
    sweep,
    tables,
    timeline,
    underlay,
    upgrade,
    validate,
)
from scenarios.config.simulation import SimulationConfig
from scenarios.report.figure_style import DEFAULT_STYLE
from scenarios.runfile.paths import partial_path
from scenarios.runtime.launcher import EXIT_TRAINING
from scenarios.studies.train import DamagedCheckpointError
from topologies import InputError, MachineError, Overlay, PeriodicOverlay, TrainingError


class Calls(list):
    """Calls of functions that a command uses, each with its name and what it was given."""

    def of(self, name):
        return [given for called, given in self if called == name]


@pytest.fixture
def calls():
    return Calls()


@pytest.fixture
def context(calls):
    """A command's context, which keeps what is held until its end."""
    return SimpleNamespace(with_resource=lambda resource: calls.append(("held", resource)))


@pytest.fixture
def faked(monkeypatch, calls):
    """Put functions in the place of those of a module, which note what they are given."""

    def put(module, **results):
        for name, result in results.items():

            def fake(*given, _name=name, _result=result, **named):
                calls.append((_name, (*given, named) if named else given))
                if isinstance(_result, BaseException):
                    raise _result
                return _result

            monkeypatch.setattr(module, name, fake)

    return put


class Stated(SimpleNamespace):
    """A scenario or a study, which another engine may simulate."""

    def simulated_by(self, engine):
        return self if engine is None else f"by {engine}"


# A study


@pytest.fixture
def computed(faked, context, tmp_path):
    """Compute a study whose points, table and figure others make."""

    def compute(*, place=None, outcome=None, figure=None, published=(), **options):
        config = SimpleNamespace(figure=figure, published=published)
        results = {
            "world": place,
            "worker_count": 3,
            "parse_study": Stated(config=config),
            "figure_style": None,
            "run_study": outcome or SimpleNamespace(errors=[], is_written=True),
            "process_pool": "own pool",
            "_called_pool": "called pool",
            "mpi_pool": nullcontext(),
            "claimed": "claim",
            "table_rows": ["row"],
            "_compare": None,
            "_draw": None,
        }
        faked(study, **results | options)
        found = SimpleNamespace(text="t", source="s", folder=tmp_path)
        study._compute(found, tmp_path / "out.csv", 3, None, None, False, True, context)

    return compute


@pytest.mark.parametrize(
    ("place", "pool", "workers"),
    [
        (None, "own pool", 3),
        (SimpleNamespace(rank=0, size=1), "own pool", 3),
        (SimpleNamespace(rank=0, size=2), "called pool", 1),
        (SimpleNamespace(rank=0, size=5), "called pool", 4),
    ],
)
def test_points_are_computed_by_own_processes_or_the_others_of_mpiexec(
    computed, calls, capsys, tmp_path, place, pool, workers
):
    computed(place=place)
    ((_, output, named),) = calls.of("run_study")
    assert (output, named) == (tmp_path / "out.csv", {"pool": pool, "workers": workers, "force": False})
    assert capsys.readouterr().err == f"written: {tmp_path / 'out.csv'}\n"
    assert calls.of("_draw") == calls.of("_compare") == []


def test_another_process_of_mpiexec_is_a_worker(computed, calls):
    computed(place=SimpleNamespace(rank=1, size=3))
    assert [name for name, _ in calls] == ["world", "mpi_pool"]


def test_a_complete_study_says_so(computed, capsys, tmp_path):
    computed(outcome=SimpleNamespace(errors=[], is_written=False))
    assert capsys.readouterr().err == f"complete already, nothing is computed: {tmp_path / 'out.csv'}\n"


@pytest.mark.parametrize("is_kept", [False, True])
def test_an_interrupted_study_says_where_its_points_are(computed, capsys, tmp_path, is_kept):
    partial = partial_path(tmp_path / "out.csv")
    if is_kept:
        partial.touch()
    with pytest.raises(KeyboardInterrupt):
        computed(run_study=KeyboardInterrupt())
    said = f"silosim: the finished points are in {partial}; the same command goes on\n"
    assert capsys.readouterr().err == (said if is_kept else "")


def test_a_study_is_compared_and_drawn_where_it_asks_for_that(computed, calls, tmp_path):
    computed(figure="figure", published=("one",))
    table, compared, picture = (tmp_path / name for name in ("out.csv", "out-published.csv", "out.png"))
    assert calls.of("claimed") == [([compared, picture], {"force": False})]
    ((_, rows, *given),) = calls.of("_compare")
    assert (rows, given) == (["row"], [compared, True])
    assert calls.of("_draw") == [("figure", table, picture, DEFAULT_STYLE)]
    assert calls.of("figure_style")[-1] == (None, {"draws": True})
    calls.clear()
    computed(published=("one",), figure_style="style")
    assert calls.of("claimed") == [([compared], {"force": False})]
    assert calls.of("figure_style") == [(None, {"draws": False})]
    calls.clear()
    computed(figure="figure", figure_style="style")
    assert calls.of("_draw")[0][-1] == "style"
    assert calls.of("_compare") == []


def test_errors_of_points_are_said_and_are_the_exit_status(computed, capsys):
    failed = SimpleNamespace(errors=["a: no.", "b: no."], is_written=True)
    for options, first in (
        ({}, []),
        ({"figure": "f", "_draw": InputError("nothing to draw.")}, ["nothing to draw."]),
    ):
        with pytest.raises(typer.Exit) as caught:
            computed(outcome=failed, **options)
        assert caught.value.exit_code == EXIT_TRAINING
        _, *lines = capsys.readouterr().err.splitlines()
        assert lines == [f"silosim: error: {line}" for line in (*first, "a: no.", "b: no.")]
    # Without any error of a point it is one of the figure.
    with pytest.raises(InputError, match="nothing to draw"):
        computed(figure="f", _draw=InputError("nothing to draw."))


@pytest.mark.parametrize(
    ("there", "is_anew"), [((), False), (("out.csv",), True), (("out.csv.partial",), True)]
)
def test_what_is_made_of_a_table_that_is_there_is_made_anew(faked, calls, context, tmp_path, there, is_anew):
    faked(study, claimed="claim")
    for name in there:
        (tmp_path / name).touch()
    output, picture = tmp_path / "out.csv", tmp_path / "out.png"
    study._claim(context, output, (None, picture), False)
    study._claim(context, output, (picture, None), True)
    assert calls.of("claimed") == [([picture], {"force": is_anew}), ([picture], {"force": True})]
    assert calls.of("held") == ["claim", "claim"]


@pytest.mark.parametrize("is_first", [False, True])
def test_a_trained_study_is_shown_drawn_and_compared_by_the_first_process(faked, calls, context, is_first):
    names = ("check_published", "check_new_run", "claimed", "run_and_report", "show", "draw", "_compare")
    summary = SimpleNamespace(rows=["row"])
    faked(study, is_first=is_first, run_summary=summary, **dict.fromkeys(names))
    scenario = Stated()
    trained = SimpleNamespace(config=SimpleNamespace(published=("one",)), scenario=scenario, text="text")
    study._train(trained, Path("a.h5"), "s.toml", None, None, False, True, context)
    assert calls.of("run_and_report") == [
        (scenario, "text", Path("a.h5"), {"force": False, "source": "s.toml"})
    ]
    first = [name for name, _ in calls if name in ("check_new_run", "claimed", "show", "draw", "_compare")]
    assert first == (["check_new_run", "claimed", "show", "draw", "_compare"] if is_first else [])
    if is_first:
        assert calls.of("draw") == [(Path("a.h5"), Path("a.png"), DEFAULT_STYLE)]
        assert calls.of("_compare") == [(trained.config, ["row"], Path("a-published.csv"), True)]


def test_the_command_prints_trains_or_computes(faked, calls, context):
    text = SimpleNamespace(text="a = 1\n\n", trains=True, name="n", source="s")
    faked(study, find_study=text, print_text=None, parse_trained="trained", _train=None, _compute=None)
    study.study(Path("n.toml"), context, as_toml=True)
    assert calls.of("print_text") == [("a = 1",)]
    assert not calls.of("_train")
    study.study(Path("n.toml"), context)
    study.study(Path("n.toml"), context, output=Path("o.h5"))
    assert [given[1] for given in calls.of("_train")] == [Path("n.h5"), Path("o.h5")]
    assert not calls.of("_compute")
    text.trains = False
    study.study(Path("n.toml"), context)
    study.study(Path("n.toml"), context, output=Path("o.csv"))
    assert [given[1] for given in calls.of("_compute")] == [Path("n.csv"), Path("o.csv")]


# A run


@pytest.mark.parametrize(
    ("error", "is_first", "is_kept", "said"),
    [
        (KeyboardInterrupt(), True, True, True),
        (KeyboardInterrupt(), True, False, True),
        (KeyboardInterrupt(), False, True, None),
        (MachineError("full."), True, True, True),
        (MachineError("full."), True, False, None),
        (TrainingError("training diverged in round 3."), True, True, False),
        (TrainingError("a worker ended."), True, True, True),
        (DamagedCheckpointError("damaged."), True, True, None),
        (InputError("wrong."), True, True, None),
    ],
)
def test_where_a_run_ends_early_it_says_what_is_kept(
    faked, calls, capsys, tmp_path, error, is_first, is_kept, said
):
    path = tmp_path / "x.h5"
    if is_kept:
        partial_path(path).touch()
    faked(run, run_scenario=error, is_first=is_first, _kept="kept")
    with pytest.raises(type(error)):
        run.run_and_report("scenario", "text", path, force=False, source="s")
    # With the same settings a training that diverged does so again.
    assert calls.of("_kept") == ([] if said is None else [(path, {"goes_on": said})])
    assert capsys.readouterr().err == ("" if said is None else "silosim: kept\n")


@pytest.fixture
def ran(faked, context, calls):
    """Run a scenario whose run others make."""

    def command(*, is_first=True, is_complete=False, **options):
        calls.clear()
        loaded = Stated(seed=4)
        names = ("drop_checkpoints", "run_and_report", "print_written", "show", "print_table", "claimed")
        faked(
            run,
            **dict.fromkeys(names),
            load_scenario=(loaded, "text"),
            is_first=is_first,
            is_complete=is_complete,
        )
        faked(run, default_page=Path("x.html"), write_page=7, write_seeds_page=8, _run_seeds="table")
        run.run(Path("s.toml"), context, Path("x.h5"), **options)
        return loaded

    return command


def test_a_run_is_made_and_shown(ran, calls):
    loaded = ran()
    ((first, text, path, named),) = calls.of("run_and_report")
    assert (first is loaded, text, path) == (True, "text", Path("x.h5"))
    assert named == {"resume": False, "force": False, "source": "s.toml", "trackers": ()}
    assert calls.of("show") == [(Path("x.h5"), {"as_json": False})]
    assert calls.of("write_page") == calls.of("claimed") == calls.of("_run_seeds") == []
    ran(engine="simpy", tracker=["t"])
    assert calls.of("run_and_report")[0][0] == "by simpy"
    assert calls.of("run_and_report")[0][-1]["trackers"] == ["t"]
    ran(is_first=False, report=True)
    assert calls.of("show") == calls.of("write_page") == calls.of("claimed") == []
    assert len(calls.of("run_and_report")) == 1


@pytest.mark.parametrize(
    ("options", "is_made"),
    [
        ({"resume": True, "is_complete": True}, False),
        ({"resume": True, "is_complete": False}, True),
        ({"resume": True, "is_complete": True, "force": True}, True),
        ({"resume": True, "is_complete": True, "is_first": False}, True),
        ({"is_complete": True}, True),
    ],
)
def test_a_complete_run_is_not_resumed(ran, calls, capsys, options, is_made):
    ran(**options)
    assert bool(calls.of("run_and_report")) == is_made
    assert calls.of("drop_checkpoints") == ([] if is_made else [(Path("x.h5"),)])
    said = "x.h5 is complete; there is nothing to resume\n"
    assert capsys.readouterr().err == ("" if is_made else said)


@pytest.mark.parametrize(
    ("options", "replaces"), [({}, False), ({"force": True}, True), ({"resume": True}, True)]
)
def test_a_report_is_claimed_before_the_run_and_written_after_it(ran, calls, options, replaces):
    ran(report=True, **options)
    assert calls.of("claimed") == [([Path("x.html")], {"force": replaces})]
    assert calls.of("write_page") == [(Path("x.h5"), Path("x.html"), {"force": replaces})]
    assert calls.of("print_written") == [(Path("x.html"), 7)]
    order = [name for name, _ in calls if name in ("claimed", "run_and_report", "write_page", "show")]
    assert order == ["claimed", "run_and_report", "write_page", "show"]
    ran(report=True, seeds="2", **options)
    page = Path("x-seeds.html")
    assert calls.of("claimed") == [([page], {"force": replaces})]
    ((files, named),) = calls.of("write_seeds_page")
    assert (sorted(files.runs), named) == ([4, 5], {"force": replaces})
    assert calls.of("print_written") == [(page, 8)]


def test_runs_of_several_seeds_are_a_table(ran, calls):
    ran(seeds="1,7", as_json=True)
    assert calls.of("print_table") == [("table", True)]
    assert calls.of("run_and_report") == calls.of("show") == calls.of("claimed") == []
    assert calls.of("write_seeds_page") == []
    assert list(calls.of("_run_seeds")[0][2].runs) == [1, 7]


def test_each_seed_is_said_and_goes_on_by_itself(faked, calls, capsys, monkeypatch):
    faked(run, run_and_report=None)

    def run_seeds(_scenario, _text, _files, run_one, **_):
        run_one(SimpleNamespace(seed=3), "own text", Path("x-seed-3.h5"), True)
        return "table"

    monkeypatch.setattr(run, "run_seeds", run_seeds)
    files = SimpleNamespace(table="x-seeds.csv", figure="x-seeds.png")
    found = run._run_seeds("scenario", "text", files, resume=True, force=False, source="s", trackers=("t",))
    assert found == "table"
    assert capsys.readouterr().err == "seed 3: x-seed-3.h5\nwritten: x-seeds.csv, x-seeds.png\n"
    assert calls.of("run_and_report")[0][1:] == (
        "own text",
        Path("x-seed-3.h5"),
        {"resume": True, "force": False, "source": "s", "trackers": ("t",)},
    )


# Exports, figures and replays


def test_an_export_is_of_what_is_asked_for(faked, calls, capsys):
    written = SimpleNamespace(notes=["a note."], files={"a.csv": 12345})
    faked(export, export_run=written)
    export.export(Path("a/x.h5.partial"))
    export.export(Path("x.h5"), more=["links"], only=["rounds"], rounds="3-", output=Path("o"))
    export.export(Path("x.h5"), only=["rounds"])
    first, second, third = calls.of("export_run")
    assert first == (
        Path("a/x.h5.partial"),
        Path("a/x-export"),
        {"table_format": "csv", "only": None, "overlay": None, "rounds": None, "force": False},
    )
    assert second[1] == Path("o")
    assert (second[-1]["only"], second[-1]["rounds"]) == (["rounds", "links"], slice(3, None))
    assert third[-1]["only"] == ["rounds"]
    assert capsys.readouterr().err.splitlines()[-1] == "written: a.csv (12,345 rows)"
    with pytest.raises(InputError, match=r"^'links' must follow an option, for instance --only\.$"):
        export.export(Path("x.h5"), more=["links"])


@pytest.mark.parametrize(
    ("file", "output", "figure"),
    [
        ("a/x.h5", None, "a/x.png"),
        ("a/x.h5.partial", None, "a/x.png"),
        ("x.h5", "b", "b.png"),
        ("x.h5", "b.pdf", "b.pdf"),
    ],
)
def test_a_figure_of_a_run_has_its_name(faked, calls, file, output, figure):
    faked(plot, claimed=nullcontext(), draw=None)
    plot.plot(Path(file), output=None if output is None else Path(output))
    assert calls.of("draw") == [(Path(file), Path(figure), DEFAULT_STYLE)]
    assert calls.of("claimed") == [([Path(figure)], {"force": False})]


@pytest.mark.parametrize(
    ("option", "value"),
    [("x", "a"), ("y", "a"), ("facet", "a"), ("where", ["a=1"]), ("log_x", False), ("log_y", True)],
)
def test_columns_are_those_of_a_study_alone(option, value):
    with pytest.raises(
        InputError, match=rf"^{option}\(=.*goes with the table of a study \(\.csv or \.parquet\)\.$"
    ):
        plot.plot(Path("x.h5"), **{option: value})


def test_a_figure_of_a_study_says_what_is_left_out(faked, calls, capsys):
    import scenarios.report.study_plot

    faked(scenarios.report.study_plot, plot_study=("left out: 1 row.",))
    plot.plot(Path("s.csv"), where=["a=1", "a=2"], log_y=False, force=True)
    ((file, figure, named),) = calls.of("plot_study")
    assert (file, figure) == (Path("s.csv"), Path("s.png"))
    assert named == {"x": None, "y": None, "facet": None, "where": {"a": ["1", "2"]}, "log_x": None, "log_y": False,
                     "force": True, "style": DEFAULT_STYLE}  # fmt: skip
    assert capsys.readouterr().err == "left out: 1 row.\nwritten: s.png\n"


def test_a_file_that_is_no_run_is_not_drawn(tmp_path):
    (tmp_path / "x.h5").write_text("no")
    with pytest.raises(
        InputError, match=r"x\.h5: must be the HDF5 file of a run \(\.h5 .*\) or the table of a study"
    ):
        plot._check_drawable(tmp_path / "x.h5")
    (tmp_path / "y.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    plot._check_drawable(tmp_path / "y.h5")
    plot._check_drawable(tmp_path / "missing.h5")


@pytest.fixture
def replayed(faked, context, calls):
    """Replay a run that others replay."""

    def command(*, before=True, after=True, **options):
        calls.clear()

        def record(trained):
            return SimpleNamespace(overlays=[SimpleNamespace(history={}), SimpleNamespace(history=trained)])

        opened = SimpleNamespace(open=lambda _: SimpleNamespace(record=record(before)))
        faked(replay, check_new_run=None, claimed="claim", replay_run=("left.",), read_run=record(after))
        faked(
            replay,
            summary_of="summary",
            print_table=None,
            draw_record=None,
            _table=None,
            unverified="unverified",
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(replay, "RecordedRun", opened)
            replay.replay(Path("a/x.h5"), context, **options)

    return command


@pytest.mark.parametrize(("before", "after"), [(False, False), (True, True), (False, True), (True, False)])
def test_a_replay_is_drawn_where_it_has_rows(replayed, calls, capsys, before, after):
    replayed(before=before, after=after)
    path, picture = Path("a/x-replay.h5"), Path("a/x-replay.png")
    assert calls.of("check_new_run") == [(path, {"force": False})]
    assert calls.of("claimed") == ([([picture], {"force": False})] if before else [])
    assert [given[1] for given in calls.of("draw_record")] == ([picture] if after else [])
    assert calls.of("print_table") == [("summary", False)]
    assert capsys.readouterr().err == "left.\n"


@pytest.mark.parametrize(
    ("options", "capacities"),
    [
        ({"access": ["1 Gbps"]}, None),
        ({"access": ["1 Gbps"], "more": ["2 Gbps"]}, ["1 Gbps", "2 Gbps"]),
        ({"access": ["1 Gbps", "2 Gbps"]}, ["1 Gbps", "2 Gbps"]),
    ],
)
def test_several_capacities_are_a_table(replayed, calls, options, capacities):
    replayed(**options)
    if capacities is None:
        assert calls.of("_table") == []
        assert calls.of("replay_run")[0][2].tables["network"] == {"access": "1 Gbps"}
        return
    ((run_path, given, _, path, *_),) = calls.of("_table")
    assert (run_path, given, path) == (Path("a/x.h5"), capacities, Path("a/x-times.csv"))
    assert calls.of("replay_run") == []
    replayed(**options, output=Path("b"))
    assert calls.of("_table")[0][3] == Path("b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"more": ["1 Gbps"]}, "'1 Gbps' must follow an option, for instance --access."),
        ({"events": Path("e.toml"), "no_events": True}, "events must not be given with --no-events."),
    ],
)
def test_a_replay_that_is_asked_for_twice_or_not_at_all(replayed, options, message):
    with pytest.raises(InputError) as caught:
        replayed(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "option", ["local_steps", "local_steps_at", "kind", "arcs", "weights", "consensus", "seed"]
)
def test_what_was_learnt_stays_in_a_replay(replayed, option):
    with pytest.raises(InputError, match=rf"^{option}\(='0'\)"):
        replayed(**{option: "0"})


def test_what_a_replay_changes(replayed, calls, faked):
    changes = SimpleNamespace(with_access=lambda text: f"changed to {text}")
    for options, events in (
        ({}, None),
        ({"events": Path("e.toml")}, Path("e.toml")),
        ({"no_events": True}, {}),
    ):
        faked(replay, replay_changes=changes)
        replayed(**options)
        ((given,),) = calls.of("replay_changes")
        assert (given["events"], given["underlay"]) == (events, None)
        assert calls.of("replay_run")[0][2] is changes
    replayed(access=["1 Gbps"], width="10in")
    assert calls.of("replay_run")[0][2] == "changed to 1 Gbps"
    assert calls.of("draw_record")[0][2].width_in == 10
    replayed()
    assert calls.of("draw_record")[0][2] is DEFAULT_STYLE


# Commands of a network or a scenario


class Asked:
    """An experiment that notes the settings it is given."""

    seed, overlays, left_out, label_shares, consensus = 5, ("known",), ("left.",), None, "rule"
    network = work = graph = SimpleNamespace(name="net")
    simulation = SimpleNamespace(tables=())

    def __init__(self):
        self.settings, self.named = None, None

    def naming(self, kind):
        self.named = kind
        return self

    def with_settings(self, changes, **named):
        self.settings = (changes, named)
        return self

    def design(self, config):
        return config


@pytest.fixture
def asked(faked, context, calls):
    """Call a command of a network, or of a scenario, whose table others make."""

    def command(module, *, is_scenario=False, study=None, fakes=None, **options):
        calls.clear()
        experiment = Asked()
        common = {"experiment_of": experiment, "is_scenario": is_scenario, "claimed": "claim", "print_table": None,
                  "print_tables": None, "asked_overlays": ["overlay"], "one_overlay": "one", "write_both": None,
                  "write_tables": None}  # fmt: skip
        faked(
            module,
            **{name: result for name, result in common.items() if hasattr(module, name)} | (fakes or {}),
        )
        study = study or SimpleNamespace(network=SimpleNamespace(name="net"))
        function = inspect.unwrap(getattr(module, module.__name__.rpartition(".")[2]))
        function(study, context, {}, **options)
        return experiment

    return command


@pytest.mark.parametrize("is_scenario", [False, True])
def test_rounds_of_a_scenario_are_its_own(asked, calls, capsys, is_scenario):
    experiment = asked(simulate, is_scenario=is_scenario, kind=["ring"], fakes={"simulate_table": "table"})
    changes, named = experiment.settings
    assert set(changes.values()) == {None}
    assert set(changes) == {"rounds", "sharing", "queueing", "engine", "until_ci", "messages"}
    assert named["rounds"] == (None if is_scenario else 1000)
    assert (named["overlays"], experiment.named) == (["overlay"], ["ring"])
    assert calls.of("print_table") == [("table", False)]
    assert calls.of("simulate_table") == [(experiment, {"path": None, "force": False})]
    assert capsys.readouterr().err == ""


def test_tables_of_a_simulation_are_written_and_its_messages_kept(asked, calls, capsys, tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.h5"]
    experiment = asked(simulate, output=files, messages=True, fakes={"simulate_table": "table"})
    assert experiment.settings[0]["messages"] is True
    assert calls.of("write_tables") == [(files[0], ["table"])]
    assert calls.of("claimed") == [([files[0]], {"force": False})]
    assert capsys.readouterr().err == f"written: {files[0]}, {files[1]}\n"
    with pytest.raises(InputError, match=r"^messages\(=True\) goes with -o FILE\.h5"):
        asked(simulate, output=files[:1], messages=True)


@pytest.mark.parametrize(
    ("error", "output", "is_kept", "said"),
    [
        (KeyboardInterrupt(), True, True, "the finished rounds are in {}"),
        (MachineError("full."), True, True, "the finished rounds are in {}"),
        (KeyboardInterrupt(), True, False, "interrupted; nothing was kept, as no round was complete"),
        (KeyboardInterrupt(), False, False, "interrupted; nothing was kept, as there is no -o FILE.h5"),
        (MachineError("full."), False, False, None),
        (MachineError("full."), True, False, None),
    ],
)
def test_where_a_simulation_ends_early_it_says_what_is_kept(
    asked, capsys, tmp_path, error, output, is_kept, said
):
    path = tmp_path / "b.h5"
    if is_kept:
        partial_path(path).touch()
    with pytest.raises(type(error)):
        asked(simulate, output=[path] if output else None, fakes={"simulate_table": error})
    expected = "" if said is None else f"silosim: {said.format(partial_path(path))}\n"
    assert capsys.readouterr().err == expected


def test_a_sweep_is_over_all_capacities_into_a_table_and_a_figure(asked, calls, capsys):
    fakes = {"sweep_access": "table", "process_pool": "pool", "worker_count": 2}
    experiment = asked(sweep, access=["1 Gbps"], more=["2 Gbps"], fakes=fakes, kind=["ring"])
    ((network, work, overlays, capacities, simulation, named),) = calls.of("sweep_access")
    assert (network, work, overlays) == (experiment.network, experiment.work, experiment.overlays)
    assert (capacities, simulation) == (["1 Gbps", "2 Gbps"], experiment.simulation)
    assert (named["pool"], named["seed"], named["training"], named["left_out"]) == (
        "pool",
        5,
        None,
        ("left.",),
    )
    files = [Path("sweep-net.csv"), Path("sweep-net.png")]
    assert calls.of("claimed") == [(files, {"force": False})]
    assert calls.of("write_both")[0][:2] == (files, "table")
    assert calls.of("write_both")[0][2].args == ("table", DEFAULT_STYLE)
    assert capsys.readouterr().err == "written: sweep-net.csv, sweep-net.png\n"
    asked(sweep, access=["1 Gbps"], fakes=fakes, output=Path("o"), width="10in")
    assert calls.of("sweep_access")[0][3] == ["1 Gbps"]
    assert calls.of("write_both")[0][0][0] == Path("o.csv")
    assert calls.of("write_both")[0][2].args[1].width_in == 10
    with pytest.raises(InputError, match=r"^access\(='fast'\)"):
        asked(sweep, access=["fast"], fakes=fakes)


class Designed(PeriodicOverlay):
    """An overlay of which nothing is computed."""

    def __init__(self):
        pass


class Static(Overlay):
    """Likewise."""

    def __init__(self):
        pass


@pytest.mark.parametrize(("is_scenario", "known"), [(False, ()), (True, ("known",))])
@pytest.mark.parametrize(("overlay", "name"), [(Designed, "periodic_"), (Static, "")])
def test_an_explanation_is_of_circuits_or_of_states(asked, calls, is_scenario, known, overlay, name):
    one = overlay()
    fakes = {"explanation_table": "table", "periodic_explanation_table": "periodic_table", "one_overlay": one}
    experiment = asked(explain, is_scenario=is_scenario, fakes=fakes)
    assert calls.of(f"{name}explanation_table") == [(one,)]
    assert calls.of("print_table") == [(f"{name}table", False)]
    assert calls.of("one_overlay")[0][-1]["known"] == known
    assert experiment.settings == ({}, {"overlays": [one], "seed": None, "most_rounds": 1})


@pytest.mark.parametrize(
    ("options", "rounds", "files"), [({}, 1, []), ({"rounds": 7, "output": Path("o")}, 7, ["o.csv", "o.png"])]
)
def test_an_upgrade_is_simulated_for_so_many_rounds(asked, calls, capsys, options, rounds, files):
    one = Static()
    fakes = {"upgrade_table": "table", "one_overlay": one}
    asked(upgrade, budget=1.0, is_scenario=True, fakes=fakes, **options)
    ((overlay, config, simulation, named),) = calls.of("upgrade_table")
    assert (overlay is one, config.budget, simulation.rounds) == (True, 1.0, rounds)
    assert named == {"rounds": options.get("rounds"), "seed": 5, "left_out": named["left_out"]}
    assert calls.of("one_overlay")[0][-1]["known"] == ("known",)
    paths = [Path(file) for file in files]
    assert calls.of("claimed") == [(paths, {"force": False})]
    assert calls.of("write_both")[0][:2] == (paths, "table")
    assert calls.of("write_both")[0][2].args[2] is DEFAULT_STYLE
    assert capsys.readouterr().err == (f"written: {', '.join(files)}\n" if files else "")
    asked(upgrade, budget=1.0, fakes=fakes)
    assert calls.of("one_overlay")[0][-1]["known"] == ()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_validation_shows_circuits_of_what_differs(asked, calls, capsys, as_json):
    def result(attribution, is_explained):
        return SimpleNamespace(attribution=attribution, is_explained=is_explained)

    stored: list[object] = []
    results = [result("why", True), result(None, True), result("why", False)]
    fakes = {
        "validation_experiment": (Asked(), 9),
        "validate_overlays": results,
        "validation_table": "table",
        "_write": None,
        "_stored": nullcontext(stored.append),
        "circuit_table": "circuit",
    }
    asked(validate, is_scenario=True, output=Path("v.csv"), fakes=fakes, as_json=as_json)
    assert stored == [results]
    assert calls.of("validate_overlays")[0][-1] == {"randomized_rounds": 9}
    assert calls.of("validation_experiment")[0][-1]["from_scenario"] is True
    assert calls.of("print_tables") == [(["table"] if as_json else ["table", "circuit"], as_json)]
    assert calls.of("circuit_table") == ([] if as_json else [(results[0],)])
    assert calls.of("_write") == [(Path("v.csv"), "table", DEFAULT_STYLE)]
    assert capsys.readouterr().err.startswith("written: v.csv")
    asked(validate, fakes=fakes)
    assert capsys.readouterr().err == ""


# Other commands


def test_tables_are_of_a_paper_and_some_networks(faked, calls, context, capsys):
    faked(
        tables, published_table="published", multigraph_table="multigraph", claimed="claim", write_tables=None
    )
    faked(tables, print_tables=None)
    tables.tables(context, network=["gaia", "geant", "gaia"])
    assert [given[-1] for given in calls.of("published_table")] == [{"networks": ["gaia", "geant"]}] * len(
        tables.TABLES
    )
    assert calls.of("print_tables") == [(["published"] * len(tables.TABLES), False)]
    assert calls.of("claimed") == []
    calls.clear()
    tables.tables(context, "multigraph", output=Path("t.csv"))
    made = ["multigraph"] * len(tables.DATA_SETS)
    assert calls.of("multigraph_table")[0][-1] == {"networks": list(tables.NETWORKS), "engine": "auto"}
    assert calls.of("write_tables") == [(Path("t.csv"), made)]
    assert calls.of("claimed") == [([Path("t.csv")], {"force": False})]
    assert capsys.readouterr().err.endswith("written: t.csv\n")
    for options, rule in (({"paper": "mine"}, "paper"), ({"network": ["gaia", "mine"]}, "network")):
        with pytest.raises(InputError, match=rf"^{rule}\(='mine'\) must be one of"):
            tables.tables(context, **options)


def test_a_timeline_is_of_some_rounds(faked, calls, capsys):
    faked(timeline, run_timeline=["table"], print_tables=None)
    timeline.timeline(Path("x.h5"))
    timeline.timeline(Path("x.h5"), rounds="2-3", output=Path("t.pdf"))
    first, second = calls.of("run_timeline")
    assert (first[-1]["rounds"], second[-1]["rounds"]) == (None, slice(2, 4))
    assert calls.of("print_tables") == [(["table"], False)] * 2
    assert capsys.readouterr().err == "written: t.pdf\n"


def test_a_run_is_shown_or_verified(faked, calls):
    faked(show, verified=["one", "two"], run_summary="summary", print_table=None, print_text=None)
    show.show(Path("x.h5"))
    assert calls.of("print_table") == [("summary", False)]
    show.show(Path("x.h5"), verify=True)
    show.show(Path("x.h5"), verify=True, as_json=True)
    text, printed = (given[0] for given in calls.of("print_text"))
    assert text == "one\ntwo"
    assert printed == '{\n "file": "x.h5",\n "checked": [\n  "one",\n  "two"\n ]\n}'
    assert len(calls.of("print_table")) == 1
    with pytest.raises(InputError, match=r"^verify must not be given with --no-verify\.$"):
        show.show(Path("x.h5"), verify=True, no_verify=True)


def underlay_command(faked, context, **options):
    facts = SimpleNamespace(json=lambda: "as JSON")
    faked(underlay, check_drawing=None, build_underlay="network", check_conversion=None, underlay_facts=facts)
    faked(underlay, print_text=None, write_drawing=None, write_conversion=["no names."])
    monkey = {"claimed": "claim", "figure_style": "style"}
    faked(underlay, **monkey)
    study = SimpleNamespace(network="config")
    inspect.unwrap(underlay.underlay)(study, context, **options)


@pytest.mark.parametrize(("name", "draws"), [("a.png", True), ("a.html", False)])
def test_a_network_is_drawn_and_converted_where_that_is_asked_for(faked, calls, context, capsys, name, draws):
    underlay_command(faked, context, output=Path(name), conversion=Path("b.gml"), as_json=True)
    assert calls.of("figure_style") == [(None, {"draws": draws})]
    assert calls.of("print_text") == [("as JSON",)]
    assert calls.of("write_drawing") == [("network", Path(name), {"style": "style", "force": False})]
    assert calls.of("write_conversion") == [("network", Path("b.gml"), {"force": False})]
    assert capsys.readouterr().err == f"written: {name}\nno names.\nwritten: b.gml\n"
    with pytest.raises(InputError, match=r"^output\(='b\.svg'\) must differ from the file of --convert\.$"):
        underlay_command(faked, context, output=Path("b.svg"), conversion=Path("b.svg"))


def test_a_network_is_described_alone(faked, calls, context, capsys):
    underlay_command(faked, context)
    assert calls.of("figure_style") == [(None, {"draws": False})]
    names = [name for name, _ in calls]
    assert not {"check_drawing", "check_conversion", "write_drawing", "write_conversion"} & set(names)
    assert calls.of("print_text")[0][0].startswith("namespace(")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("is_first", [False, True])
def test_the_example_is_written_run_and_drawn(faked, calls, context, tmp_path, is_first):
    scenario = Stated()
    faked(demo, is_first=is_first, claimed="claim", preset_text="a = 1\n", parse_scenario=scenario)
    faked(demo, run_and_report=None, show=None, draw=None)
    demo.demo(context, tmp_path)
    run_file, shown, picture = (tmp_path / f"demo{ending}" for ending in (".h5", ".toml", ".png"))
    assert calls.of("run_and_report")[0][:3] == (scenario, "a = 1\n", run_file)
    assert calls.of("claimed") == ([([run_file, shown, picture], {"force": True})] if is_first else [])
    assert calls.of("draw") == ([(run_file, picture, DEFAULT_STYLE)] if is_first else [])
    assert shown.exists() == is_first
    if is_first:
        demo.demo(context, tmp_path, width="10in")
        assert calls.of("draw")[-1][-1].width_in == 10
        shown.write_text("a = 2\n")
        with pytest.raises(InputError, match="differs from the shipped example and is kept; run it with"):
            demo.demo(context, tmp_path)


def test_the_folder_of_the_example_is_no_file(context, tmp_path):
    with pytest.raises(InputError, match=r"a\.png'\) must be the name of a folder\.$"):
        demo.demo(context, tmp_path / "a.png")


@pytest.fixture
def calibrated(faked, context, calls, tmp_path):
    """Measure a step that takes no time to measure."""
    path = tmp_path / "s.toml"
    path.touch()

    def command(*, local_steps_at=None, **options):
        calls.clear()
        workload = SimpleNamespace(local_steps=5, local_steps_at=local_steps_at)
        faked(
            calibrate,
            load_scenario=(SimpleNamespace(workload=workload), ""),
            claimed="claim",
            check_training=None,
        )
        faked(calibrate, measure=["one", "many"], calibrated_text="text", read_text="old", write_whole=None)
        faked(calibrate, round_times_csv="csv", calibration_table="table", print_table=None)
        calibrate.calibrate(path, context, **options)
        return path

    return command


def test_a_measured_step_is_written_where_that_is_asked_for(calibrated, calls, capsys):
    calibrated()
    assert calls.of("write_whole") == calls.of("calibrated_text") == []
    assert calls.of("measure")[0][-1] == {"steps": 50, "silos": 1}
    assert calls.of("print_table") == [("table", False)]
    assert capsys.readouterr().err == ""
    path = calibrated(write=True)
    assert calls.of("write_whole") == [(path, "text", {"force": True})]
    assert calls.of("calibrated_text")[0][:2] == ("old", "one")
    assert capsys.readouterr().err == f"written: {path}\n"
    output, times = Path("o.toml"), Path("t.csv")
    calibrated(output=output)
    assert calls.of("write_whole") == [(output, "text", {"force": False})]
    calibrated(times=times)
    assert calls.of("write_whole") == [(times, "csv", {"force": False})]
    assert calls.of("calibrated_text") == []
    capsys.readouterr()
    calibrated(write=True, output=output, times=times)
    assert [given[0] for given in calls.of("write_whole")] == [output, path, times]
    assert calls.of("claimed") == [([output, times], {"force": False})]
    assert capsys.readouterr().err == f"written: {path}, o.toml, t.csv\n"


def test_times_of_rounds_need_whole_rounds_of_all_silos(calibrated):
    times = Path("t.csv")
    calibrated(times=times, steps=5)
    with pytest.raises(InputError, match=r"steps\(=4\) must be >= local_steps\(=5\) with --times\.$"):
        calibrated(times=times, steps=4)
    calibrated(steps=4)
    with pytest.raises(
        InputError, match="times goes without local_steps_at: its rounds are those of all silos"
    ):
        calibrated(times=times, local_steps_at={"A": 2})
    calibrated(local_steps_at={"A": 2})
    for wrong in ({"output": Path("o.csv")}, {"times": Path("t.toml")}):
        with pytest.raises(InputError, match=r"[ot]\.(csv|toml)"):
            calibrated(**wrong)


def test_a_scenario_that_is_read_only_stays(calibrated, tmp_path):
    path = calibrated(write=True)
    path.chmod(0o444)
    with pytest.raises(InputError, match=r"s\.toml is read-only; -o FILE writes a copy\.$"):
        calibrated(write=True)
    calibrated(output=tmp_path / "o.toml")


@pytest.mark.parametrize(
    ("is_scenario", "given", "engine", "steps", "used"),
    [
        (True, (), None, 3, "auto"),
        (False, ("workload",), None, None, "auto"),
        (False, ("workload", "local_steps"), "simpy", 3, "simpy"),
    ],
)
def test_rounds_of_imported_metrics_are_local_steps_that_are_stated(
    faked, calls, context, capsys, monkeypatch, is_scenario, given, engine, steps, used
):
    experiment = SimpleNamespace(simulation=SimulationConfig(), overlays=(), seed=5)
    experiment.work = SimpleNamespace(common_steps=3)
    changed = []
    experiment.changed = lambda **to: changed.append(to) or experiment
    faked(import_metrics, check_new_run=None, experiment_of=experiment, is_scenario=is_scenario)
    faked(import_metrics, asked_overlays=["overlay"], import_file="foreign", columns_note=["a note."])
    faked(import_metrics, read_run=SimpleNamespace(about="about"), run_table="table", print_table=None)
    monkeypatch.setattr(import_metrics, "is_given", lambda _, name: name in given)
    function = inspect.unwrap(import_metrics.import_metrics)
    function(SimpleNamespace(), context, {}, Path("m.csv"), Path("o.h5"), engine=engine, target_accuracy=0.5)
    assert changed[0]["simulation"] == SimulationConfig(engine=used)
    assert (changed[0]["overlays"], changed[0]["seed"]) == (["overlay"], 5)
    named = calls.of("import_file")[0][-1]
    assert (named["local_steps"], named["target_accuracy"], named["shift"], named["percent"]) == (
        steps,
        0.5,
        None,
        False,
    )
    assert calls.of("run_table")[0][1:3] == ("o.h5: metrics of m.csv\nabout", 0.5)
    assert calls.of("run_table")[0][-1]["one_curve"] is True
    assert calls.of("print_table") == [("table", False)]
    assert capsys.readouterr().err == "a note.\n"


@pytest.mark.parametrize(
    ("given", "without", "missing"),
    [
        (("workload",), ("A",), None),
        (("model_size", "compute"), (), None),
        (("model_size",), (), None),
        (("compute",), (), "--model-size must be given: the metrics"),
        (("model_size",), ("A", "B"), "--compute must be given: the metrics"),
        ((), ("A", "B"), "--model-size and --compute must be given: the metrics"),
        (("model_size",), ("A",), "--compute must be given (net states no computing time of A): the metrics"),
        ((), (), "--model-size must be given: the metrics"),
    ],
)
def test_metrics_are_of_a_model_and_hardware_that_are_stated(monkeypatch, given, without, missing):
    monkeypatch.setattr(import_metrics, "is_given", lambda _, name: name in given)
    monkeypatch.setattr(import_metrics, "silos_without_compute", lambda *_: list(without))
    graph = SimpleNamespace(silos=2, underlay=SimpleNamespace(name="net"))
    network = SimpleNamespace(graph=lambda: graph, workload="w")
    if missing is None:
        import_metrics._check_workload_is_given(network, None)
        return
    with pytest.raises(InputError) as caught:
        import_metrics._check_workload_is_given(network, None)
    assert str(caught.value).startswith(missing)
