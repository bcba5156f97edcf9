"""What a run checks, says, simulates, trains and removes, and what must come before what; nothing is computed here."""

from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios.studies import run
from topologies import InputError


@pytest.fixture
def steps(monkeypatch):
    """Run a scenario of two overlays; what was done."""
    did: list[tuple[object, ...]] = []

    def note(name, *given, **options):
        did.append((name, *given, *options.values()))

    @contextmanager
    def create(path, _head, simulations, *, settings, rows, trained, force, resume):
        assert settings.engine == "simpy"
        note("file", path.name, len(simulations), rows, trained, force, resume)
        yield SimpleNamespace(
            simulation=lambda kind: f"writer of {kind}",
            record_schedule=lambda kind, rounds: note("schedule", kind, rounds),
            training=lambda kind, starts: f"history of {kind}, {starts}",
            silo_start_s=print,
        )
        note("closed")

    @contextmanager
    def followed(made, facts, starts, _show):
        assert starts == "starts"
        note("followed", sorted(made), facts.overlay, facts.seed, facts.name)
        yield "follow"

    def run_job(job, kind, *, until_ci, least_rounds, engine, writer):
        assert (until_ci, engine, writer) == ("1 %", "simpy", f"writer of {kind}")
        note("simulated", job, kind, least_rounds)
        return SimpleNamespace(rounds=40, last_start_s="starts")

    for name in (
        "check_resume",
        "check_artifacts",
        "check_new_run",
        "check_event_files",
        "take_part",
        "publish_models",
    ):
        monkeypatch.setattr(run, name, lambda *given, name=name, **options: note(name, *given[1:], **options))
    monkeypatch.setattr(run, "drop_checkpoints", lambda path: note("drop", path.name))
    monkeypatch.setattr(
        run, "drop_event_files", lambda path, made: note("drop events", path.name, sorted(made))
    )
    monkeypatch.setattr(run, "check_checkpoints", lambda _path, jobs, _show: note("checkpoints", jobs))
    monkeypatch.setattr(run, "load_trackers", lambda names, *, folder: dict.fromkeys(names, folder))
    monkeypatch.setattr(run, "task_line", lambda text: text)
    monkeypatch.setattr(run, "notice_printer", lambda: lambda notice: note("said", notice.text))
    monkeypatch.setattr(run, "RunHead", lambda **given: given)
    monkeypatch.setattr(run, "RunFile", SimpleNamespace(create=create))
    monkeypatch.setattr(run, "run_job", run_job)
    monkeypatch.setattr(run, "followed", followed)
    monkeypatch.setattr(run, "TrackedTraining", lambda **given: SimpleNamespace(**given))
    monkeypatch.setattr(
        run,
        "train_overlay",
        lambda kind, job, history, _show, follow, *, detailed: note(
            "trained", kind, job, history, follow, detailed
        ),
    )

    def make(*, trains=True, place=None, text="", rounds=20, **options):
        did.clear()
        overlays = [SimpleNamespace(kind=kind) for kind in ("ring", "star")]
        plan = SimpleNamespace(
            graph=SimpleNamespace(labels=("A", "B")),
            work=None,
            overlays=overlays,
            jobs=("job 0", "job 1"),
            trainings=("training 0", "training 1") if trains else (),
        )
        monkeypatch.setattr(run, "world", lambda: place)
        monkeypatch.setattr(run, "plan_run", lambda _scenario, folder: note("plan", folder.name) or plan)
        training = SimpleNamespace(rounds=rounds, log_every=10, backend="mpi", checkpoint_every=0)
        scenario = SimpleNamespace(
            name="study",
            seed=7,
            network=None,
            training=training if trains else None,
            simulation=SimpleNamespace(until_ci="1 %", engine="simpy"),
        )
        told = {"force": False, "resume": False, "call_others": lambda: note("called")} | options
        run.run_scenario(scenario, text, Path("x.h5"), source="folder/s.toml", **told)
        return [*did]

    return make


def in_order(did, *names):
    """Whether steps were taken, and each last one of a name before the first one of the next name."""
    taken = [name for name, *_ in did]
    places = [(taken.index(name), len(taken) - 1 - taken[::-1].index(name)) for name in names]
    return all(before[1] < after[0] for before, after in pairwise(places))


def test_overlays_are_simulated_and_trained_one_after_the_other(steps):
    did = steps()
    # What is quick to check comes before the designs, and all that can fail before the file.
    for check in ("check_artifacts", "check_new_run", "check_event_files"):
        assert in_order(did, check, "plan", "file")
    assert ("check_new_run", False, False) in did
    assert [each[2:] for each in did if each[0] == "check_artifacts"] == [(False, False)]
    assert ("check_event_files", {}, False, False) in did
    assert ("plan", "x.h5.checkpoints") in did
    # Rows of rounds 0, 10 and 20.
    assert ("file", "x.h5", 2, {"ring": 3, "star": 3}, 20, False, False) in did
    # Others are called once, before the first training.
    assert did.count(("called",)) == 1
    assert in_order(did, "file", "called", "trained", "publish_models", "closed")
    each = ("simulated", "schedule", "followed", "trained")
    assert [step for step in did if step[0] in each] == [
        ("simulated", "job 0", "ring", 20),
        ("schedule", "ring", 40),
        ("followed", [], "ring", 7, "study"),
        ("trained", "ring", "training 0", "history of ring, starts", "follow", True),
        ("simulated", "job 1", "star", 20),
        ("schedule", "star", 40),
        ("followed", [], "star", 7, "study"),
        ("trained", "star", "training 1", "history of star, starts", "follow", False),
    ]
    assert ("publish_models", ["ring", "star"]) in did


def test_checkpoints_of_an_earlier_run_go_once_the_file_is_made_and_those_of_this_one_last(steps):
    did = steps()
    assert [place for place, step in enumerate(did) if step == ("drop", "x.h5")][1:] == [len(did) - 1]
    first = did.index(("drop", "x.h5"))
    assert in_order(did[: first + 1], "file", "drop")
    assert in_order(did[first:-1], "drop", "simulated", "closed")
    assert in_order(did, "file", "drop events", "simulated")
    assert ("drop events", "x.h5", []) in did


def test_without_a_training_nothing_is_trained_and_nobody_called(steps):
    did = steps(trains=False)
    assert ("file", "x.h5", 2, {}, 0, False, False) in did
    assert not {"called", "trained", "followed"} & {name for name, *_ in did}
    assert [each for each in did if each[0] == "simulated"] == [
        ("simulated", "job 0", "ring", 0),
        ("simulated", "job 1", "star", 0),
    ]


def test_a_run_that_goes_on_keeps_its_checkpoints_until_its_end(steps):
    did = steps(resume=True, force=True)
    names = [name for name, *_ in did]
    assert ("check_new_run", True, True) in did
    assert ("checkpoints", ("training 0", "training 1")) in did
    assert in_order(did, "check_resume", "plan", "checkpoints", "file")
    assert ("file", "x.h5", 2, {"ring": 3, "star": 3}, 20, True, True) in did
    assert names.count("drop") == 1
    assert "drop events" not in names
    assert in_order(did, "closed", "drop")
    assert did[-1] == ("drop", "x.h5")
    assert "checkpoints" not in [name for name, *_ in steps()]


@pytest.mark.parametrize(("rank", "is_first"), [(0, True), (1, False), (2, False)])
def test_other_processes_of_a_launcher_take_part_and_write_nothing(steps, rank, is_first):
    did = steps(place=SimpleNamespace(rank=rank))
    if is_first:
        assert {name for name, *_ in did} == {name for name, *_ in steps()}
    else:
        assert did == [("plan", "x.h5.checkpoints"), ("take_part", ["ring", "star"])]


def test_what_a_user_should_know_is_said_before_anything_is_simulated(steps):
    def said(**options):
        return [each[1] for each in steps(**options) if each[0] == "said"]

    assert said(text="A task.") == ["A task."]
    assert said(rounds=1000) == [
        "training.checkpoint_every(=0): nothing continues these 1000 rounds if they are cut"
    ]
    assert said() == said(rounds=1000, trains=False) == []


def test_trackers_follow_a_training(steps):
    did = steps(trackers=("tensorboard",))
    assert ("followed", ["tensorboard"], "ring", 7, "study") in did
    assert ("check_event_files", {"tensorboard": Path("folder")}, False, False) in did
    with pytest.raises(InputError, match=r"tracker goes with a scenario that has \[training\]\."):
        steps(trains=False, trackers=("tensorboard",))


def test_nobody_need_be_called(steps):
    assert ("called",) not in steps(call_others=run._nobody)


@pytest.fixture
def plans(monkeypatch):
    """Plan a scenario of two overlays on three silos; what was checked and built."""
    did: list[tuple[object, ...]] = []

    def note(name, *given):
        did.append((name, *given))

    @contextmanager
    def heartbeat(text):
        note("at work", text)
        yield

    graph = SimpleNamespace(silos=3, labels=("A", "B", "C"))
    work = SimpleNamespace(local_steps=5)
    monkeypatch.setattr(run, "check_hubs", lambda _: None)
    monkeypatch.setattr(run, "heartbeat", heartbeat)
    monkeypatch.setattr(run, "build_network", lambda _: graph)
    monkeypatch.setattr(run, "workload_of", lambda *_: work)
    monkeypatch.setattr(run, "compute_times", lambda *_, seed, rounds: note("times", seed, rounds))
    monkeypatch.setattr(run, "check_events", lambda *_, rounds: note("events", rounds))
    monkeypatch.setattr(run, "silo_places", lambda *_: "places")
    backend = SimpleNamespace(check=lambda _: note("backend"))
    monkeypatch.setattr(run, "load_backend", lambda *_: backend)
    monkeypatch.setattr(
        run,
        "check_data",
        lambda *_, **options: note("data", *options.values()) or "checked",
    )
    monkeypatch.setattr(
        run, "partition_labels", lambda _graph, training, seed: ("labels", seed) if training else None
    )

    def designed(config, _graph, _work, *, seed, consensus, label_shares):
        note("designed", config.name, seed, consensus, label_shares)
        return SimpleNamespace(kind=config.name)

    monkeypatch.setattr(run, "design_any", designed)
    monkeypatch.setattr(
        run, "job_of", lambda overlay, _settings, *, rounds, seed: (overlay.kind, rounds, seed)
    )
    monkeypatch.setattr(
        run, "mixing_plan", lambda overlay, rounds, seed: ("mixing", overlay.kind, rounds, seed)
    )
    monkeypatch.setattr(run, "_taking_part", lambda _work, rounds, silos, seed: ("part", rounds, silos, seed))
    monkeypatch.setattr(run, "TrainingJob", lambda **given: given)
    monkeypatch.setattr(run, "check_mixing", lambda job: note("mixing", job["mixing"][1]))
    monkeypatch.setattr(run, "check_memory", lambda jobs, data: note("memory", len(jobs), data))

    def make(*, simulated=30, trained=None, first=True, folder=None):
        did.clear()
        monkeypatch.setattr(run, "is_first", lambda: first)
        training = (
            None if trained is None else SimpleNamespace(rounds=trained, backend="mpi", backend_options={})
        )
        scenario = SimpleNamespace(
            network=None,
            training=training,
            simulation=SimpleNamespace(rounds=simulated, compute=None),
            seed=7,
            overlays=SimpleNamespace(
                consensus="metropolis", overlays=[SimpleNamespace(name=name) for name in ("ring", "star")]
            ),
        )
        return run.plan_run(scenario, folder), [*did]

    return make


@pytest.mark.parametrize(
    ("simulated", "trained", "rounds"), [(30, None, 30), (30, 20, 30), (30, 40, 40), (1, 1, 1)]
)
def test_a_simulation_has_the_rounds_of_its_training_at_least(plans, simulated, trained, rounds):
    plan, did = plans(simulated=simulated, trained=trained)
    assert ("times", 7, rounds) in did
    assert ("events", rounds) in did
    assert plan.jobs == (("ring", rounds, 7), ("star", rounds, 7))


def test_the_plan_of_a_training_has_a_job_for_each_overlay(plans, tmp_path):
    plan, did = plans(trained=20, folder=tmp_path)
    ring, star = plan.trainings
    assert (ring["mixing"], star["mixing"]) == (("mixing", "ring", 20, 7), ("mixing", "star", 20, 7))
    assert (ring["silos"], ring["local_steps"], ring["seed"], ring["silo_places"]) == (3, 5, 7, "places")
    assert ring["taking_part"] == ("part", 20, 3, 7)
    assert (ring["directory"], star["directory"]) == (tmp_path / "ring", tmp_path / "star")
    assert plan.silo_places == "places"
    assert ("at work", "network: routes of all pairs") in did
    # Data are read before overlays are designed, which may take long.
    names = [name for name, *_ in did]
    assert names.index("data") < names.index("designed")
    assert ("data", 3, 7, "places", ("A", "B", "C")) in did
    assert ("memory", 2, "checked") in did
    assert in_order(did, "designed", "memory")
    assert ("designed", "ring", 7, "metropolis", ("labels", 7)) in did
    assert ("at work", "star: design for 3 silos") in did
    assert plans(trained=20)[0].trainings[0]["directory"] is None


def test_without_a_training_no_data_are_read(plans):
    plan, did = plans()
    assert (plan.trainings, plan.silo_places) == ((), None)
    assert not {"data", "backend", "mixing", "memory"} & {name for name, *_ in did}
    assert ("designed", "ring", 7, "metropolis", None) in did


def test_the_first_process_reads_the_data_and_says_what_is_at_work(plans):
    plan, did = plans(trained=20, first=False)
    names = [name for name, *_ in did]
    assert "backend" in names
    assert not {"data", "memory"} & set(names)
    assert {each[1] for each in did if each[0] == "at work"} == {None}
    assert len(plan.trainings) == 2
