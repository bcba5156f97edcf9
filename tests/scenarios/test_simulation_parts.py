"""Experiments and parts of a simulation: what changes with settings, when it ends, how fast it is said to be."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scenarios.config.label_shares import PartitionLabels
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.simulation import blocks, design_bar, runner
from scenarios.simulation.blocks import Progress
from scenarios.simulation.captions import simulation_caption
from scenarios.simulation.collect import _shows_period
from scenarios.simulation.experiment import graph_experiment, network_experiment
from scenarios.simulation.runner import Outcome, _check_dates
from scenarios.simulation.simulated_window import _last_arrival_s
from simulator import SteadyState
from topologies import InputError, Workload
from topologies.errors import Field
from training import TrainingConfig

WORK = Workload.preset("inaturalist")
RING = OverlayConfig(kind="ring")


@pytest.fixture(scope="module")
def experiment():
    return graph_experiment(build_network(NetworkConfig(underlay="gaia")), WORK, rounds=30)


def test_an_experiment_of_a_network_has_the_default_overlays_and_seed_0(experiment):
    kinds = [config.name for config in experiment.overlays]
    assert repr(experiment) == (
        f"Experiment('gaia', 11 silos, 'inaturalist', overlays={kinds!r}, rounds=30, seed=0)"
    )
    assert experiment.seed == 0
    assert "star" in kinds
    with pytest.raises(
        InputError, match="was built in Python cannot be written into a file; give a NetworkConfig"
    ):
        _ = experiment.network


def test_where_kinds_are_named_nothing_is_said_to_be_left_out(experiment):
    some = replace(experiment, left_out=("no star.",))
    assert some.naming(None).left_out == some.naming(()).left_out == ("no star.",)
    assert some.naming(("ring",)).left_out == ()


def test_what_stays_the_same_is_the_same_experiment(experiment):
    same = {"overlays": experiment.overlays, "seed": 0, "simulation": experiment.simulation}
    assert experiment.changed(**same) is experiment
    assert experiment.changed(**same | {"seed": 3}).seed == 3
    assert experiment.changed(**same | {"overlays": [RING]}).overlays == [RING]
    assert experiment.changed(**same | {"seed": 3}).text == ""
    with pytest.raises(InputError, match=r"seed\(=-1\)"):
        experiment.changed(**same | {"seed": -1})


def test_the_text_of_a_changed_experiment_states_what_changed():
    network = NetworkConfig(underlay="gaia")
    before = network_experiment(network, WORK, rounds=30)
    after = before.changed(overlays=[RING], seed=7, simulation=before.simulation)
    assert "seed = 7" in after.text
    assert 'kinds = ["ring"]' in after.text
    assert "[training]" not in after.text
    assert after.head().scenario == after.text
    assert after.head().network is network


def test_the_labels_of_silos_follow_the_seed_and_a_trace_its_computing_times(experiment):
    shares = PartitionLabels(graph=experiment.graph, training=TrainingConfig(), seed=0)
    given = replace(experiment, label_shares=shares, compute_source="s.toml: simulation.compute.trace")
    settings = given.simulation
    other = given.changed(overlays=[RING], seed=5, simulation=settings)
    assert (other.label_shares.seed, other.label_shares.training) == (5, shares.training)
    assert other.compute_source == given.compute_source
    same_seed = given.changed(
        overlays=[RING],
        seed=0,
        simulation=replace(settings, compute=ComputeConfig(distribution="lognormal", cv=0.1)),
    )
    assert same_seed.label_shares is shares
    assert same_seed.compute_source is None


@pytest.mark.parametrize(
    ("settings", "options", "rounds"),
    [
        ({}, {}, 30),
        ({"sharing": "equal", "rounds": None}, {}, 30),
        ({"rounds": 7}, {"rounds": 90}, 7),
        # Of 11 silos an interval takes 500 rounds.
        ({}, {"rounds": 90}, 500),
        ({}, {"rounds": 600}, 600),
        ({"until_ci": "1 %"}, {}, 9000),
        ({"until_ci": "1 %"}, {"rounds": 90}, 9000),
        ({"until_ci": "1 %", "rounds": 8}, {"rounds": 90}, 8),
    ],
)
def test_rounds_are_those_asked_for_or_as_many_as_an_interval_takes(experiment, settings, options, rounds):
    found = experiment.with_settings(settings, overlays=None, seed=None, most_rounds=9000, **options)
    assert found.simulation.rounds == rounds
    assert found.simulation.until_ci == settings.get("until_ci")
    assert found.simulation.sharing == settings.get("sharing", "maxmin")
    assert (found.seed, found.overlays) == (0, experiment.overlays)


def test_settings_take_the_place_of_those_of_the_experiment(experiment):
    found = experiment.with_settings(
        {}, overlays=[RING], seed=4, most_rounds=9, compute_times="lognormal 0.2"
    )
    assert (found.seed, found.overlays) == (4, [RING])
    assert found.simulation.compute == ComputeConfig(distribution="lognormal", cv=0.2)
    with pytest.raises(InputError, match="sharing"):
        experiment.with_settings({"sharing": "none"}, overlays=None, seed=None, most_rounds=9)


def test_computing_times_are_checked_for_the_rounds_that_are_simulated(experiment, monkeypatch):
    checked = []
    module = "scenarios.simulation.experiment"
    monkeypatch.setattr(f"{module}.compute_times", lambda *_, seed, rounds: checked.append((seed, rounds)))
    monkeypatch.setattr(f"{module}.check_events", lambda *_, rounds: checked.append(rounds))
    experiment.check()
    experiment.check(rounds=5)
    assert checked == [(0, 30), 30, (0, 5), 5]


def test_errors_of_a_scenario_name_its_file_and_table(experiment):
    def error_of(source):
        with pytest.raises(InputError) as caught, replace(experiment, source=source).named_errors():
            raise InputError("must be >= 1.", field=Field("rounds", value=0))
        return str(caught.value)

    assert error_of("s.toml").startswith("s.toml: simulation.rounds")
    assert error_of(None).startswith("rounds")


@pytest.mark.parametrize(("most", "silos", "line"), [(10, 11, "ring: design for 11 silos"), (11, 11, None)])
def test_the_design_for_many_silos_is_said_to_be_at_work(experiment, monkeypatch, most, silos, line):
    lines, steps = [], []

    @contextmanager
    def heartbeat(text):
        lines.append(text)
        yield

    @contextmanager
    def bar(title, length):
        assert (title, length) == ("ring", 100)
        yield steps.append

    monkeypatch.setattr(design_bar, "MANY_SILOS", most)
    monkeypatch.setattr(design_bar, "heartbeat", heartbeat)
    monkeypatch.setattr(design_bar, "bar", bar)
    monkeypatch.setattr(design_bar, "design_any", lambda config, *_, progress, **__: progress(0.5) or config)
    assert experiment.graph.silos == silos
    assert design_bar.design_with_bar(RING, experiment.graph, WORK, seed=0) is RING
    assert (lines, steps) == ([line], [50])


@pytest.mark.parametrize(
    ("rounds", "silos", "per_round", "message"),
    [
        (2**31 // 4, 4, 0, None),
        (2**31 // 4 + 1, 4, 0, r"^rounds\(=536870913\) must be <= 536870912 for ring's 4 silos a round\.$"),
        (2**31 // 16, 4, 12, None),
        (
            2**31 // 16 + 1,
            4,
            12,
            r"^rounds\(=134217729\) must be <= 134217728 for ring's 4 silos and 12 dates of messages a round\.$",
        ),
    ],
)
def test_a_file_has_room_for_so_many_dates(rounds, silos, per_round, message):
    if message is None:
        _check_dates("ring", rounds, silos, per_round)
    else:
        with pytest.raises(InputError, match=message):
            _check_dates("ring", rounds, silos, per_round)


@pytest.mark.parametrize(("messages", "is_too_many"), [(False, False), (True, True)])
def test_messages_have_four_dates(experiment, monkeypatch, messages, is_too_many):
    ring = experiment.design(RING)
    # 5 rounds of 11 silos and 11 messages of 1 or 4 dates.
    monkeypatch.setattr(runner, "_MOST_DATES", 5 * 22)
    settings = SimulationConfig(messages=messages)
    assert runner.job_of(ring, SimulationConfig(), rounds=5, seed=0).rounds == 5
    if is_too_many:
        with pytest.raises(
            InputError, match="must be <= 2 for ring's 11 silos and 44 dates of messages a round"
        ):
            runner.job_of(ring, settings, rounds=5, seed=0)
    else:
        with pytest.raises(
            InputError, match="must be <= 5 for ring's 11 silos and 11 dates of messages a round"
        ):
            runner.job_of(ring, settings, rounds=6, seed=0)


def test_the_half_width_of_an_exact_cycle_time_is_0_and_of_too_few_rounds_unknown():
    def outcome(is_exact, interval):
        given: dict[str, Any] = dict.fromkeys(("last_start_s", "starts", "link_bits"))
        steady = SteadyState(cycle_time_s=1.0, is_exact=is_exact)
        estimate = None if is_exact else SimpleNamespace(interval=interval)
        given |= {"kind": "o", "engine": "simpy", "rounds": 1, "now_s": 1.0, "messages": 1, "wall_s": 1.0}
        return Outcome(steady=steady, estimate=estimate, counts_disturbed=False, **given)

    assert (outcome(True, None).half_width_s, outcome(True, None).interval) == (0.0, None)
    assert outcome(False, None).half_width_s is None
    interval = SimpleNamespace(half_width=0.25)
    assert (outcome(False, interval).half_width_s, outcome(False, interval).interval) == (0.25, interval)


@pytest.mark.parametrize(
    ("rounds", "wall_s", "text"),
    [
        (500, 1.0, "at 1.500 s, 500 rounds/s, 2k msg/s"),
        (1000, 1.0, "at 1.500 s, 1k rounds/s, 4k msg/s"),
        (999, 0.5, "at 1.500 s, 2k rounds/s, 7.99k msg/s"),
        (999_600, 1.0, "at 1.500 s, 1M rounds/s, 4M msg/s"),
        (1234, 1000.0, "at 1.500 s, 1.23 rounds/s, 4.94 msg/s"),
    ],
)
def test_speeds_have_three_digits_and_a_prefix(rounds, wall_s, text):
    progress = Progress(
        block=SimpleNamespace(now_s=1.5),
        rounds=rounds,
        steady=None,
        messages=4 * rounds,
        wall_s=wall_s,
        engine="simpy",
    )
    assert str(progress) == text


@pytest.mark.parametrize(
    ("rounds", "transient", "is_shown"), [(101, 95, True), (101, 96, False), (100, 1, False), (102, 96, True)]
)
def test_a_period_shows_where_the_rounds_hold_it(rounds, transient, is_shown):
    steady = SteadyState(
        cycle_time_s=1.0, is_exact=True, period_rounds=5, period_s=5.0, transient_rounds=transient
    )
    assert _shows_period(steady, rounds) is is_shown
    assert not _shows_period(None, rounds)


def test_the_last_arrival_of_a_block_is_minus_infinity_where_no_message_came():
    def last_s(*arrival_s):
        return _last_arrival_s(SimpleNamespace(messages=SimpleNamespace(arrival_s=np.array(arrival_s))))

    assert last_s([1.0, 3.0], [2.0, np.nan]) == 3.0
    assert last_s([np.nan, np.nan]) == last_s([]) == -np.inf


def test_the_caption_of_a_simulation_says_what_is_not_by_default():
    plain = simulation_caption(SimulationConfig(), "maxmin", seed=0)
    assert plain.startswith("sharing maxmin, queueing fifo; computing ")
    assert "until" not in plain
    assert "with" not in plain
    narrow = simulation_caption(SimulationConfig(until_ci="1 %"), "equal and maxmin", seed=0)
    assert narrow.startswith("sharing equal and maxmin, queueing fifo; ")
    assert narrow.endswith("; until +- 1 %")


@pytest.mark.parametrize(
    ("arcs", "messages", "rounds"),
    [
        (10, 1000, 100),
        (10, 15, 1),
        (10, 9, 1),
        (10, 20, 2),
        (0, 3, 3),
        (0, 0, 1),
        (1, 1000, 256),
        (4, 1024, 256),
    ],
)
def test_a_block_has_1_to_256_rounds(monkeypatch, arcs, messages, rounds):
    made = []

    def engine_of(job, *, block_rounds, engine):
        made.append((job, block_rounds, engine))
        return SimpleNamespace(advance=lambda: None)

    monkeypatch.setattr(blocks, "make_engine", engine_of)
    job = SimpleNamespace(arcs=[None] * arcs, rounds=0)
    with pytest.raises(InputError, match=r"^rounds\(=0\) must be >= 1\.$"):
        blocks.simulate_blocks(job, bool, title=None, block_messages=messages, engine="simpy")
    assert made == [(job, rounds, "simpy")]


def test_blocks_are_taken_until_they_are_enough(monkeypatch):
    clock = iter((10.0, 12.5, 14.0, 15.0))
    monkeypatch.setattr(blocks.time, "perf_counter", lambda: next(clock))
    arrivals_s = np.array([[1.0, np.nan], [2.0, 3.0]])
    made = iter(
        SimpleNamespace(
            first_round=first, rounds=2, now_s=1.0, messages=SimpleNamespace(arrival_s=arrivals_s)
        )
        for first in (0, 2, 4)
    )
    running = SimpleNamespace(advance=lambda: next(made), steady="so far", name="simpy")
    monkeypatch.setattr(blocks, "make_engine", lambda *_, **__: running)
    taken = []

    def take(progress):
        taken.append((progress.rounds, progress.messages, progress.wall_s, progress.engine, progress.steady))
        running.steady = "later"
        return progress.rounds == 4

    job = SimpleNamespace(arcs=[None], rounds=6)
    end = blocks.simulate_blocks(job, take, title=None, block_messages=2)
    assert taken == [(2, 3, 2.5, "simpy", "so far"), (4, 6, 4.0, "simpy", "later")]
    assert (end.rounds, end.steady) == (4, "later")


@pytest.fixture
def job_run(monkeypatch):
    """Run a job of 5 arcs whose blocks of 10 rounds are narrow from some round on; what was asked and found."""
    made = SimpleNamespace()

    class Starts:
        last_s, counted, so_far = np.zeros(1), "counted", "so far"

        def __init__(self, _job):
            self.counts_disturbed = made.disturbed
            self.blocks = 0

        def add(self, _block):
            self.blocks += 1
            made.blocks = self.blocks

        def steady_state(self, proven):
            exact = proven is not None
            steady = SteadyState(cycle_time_s=1.0, is_exact=exact)
            return steady, None if exact else SimpleNamespace(interval=SimpleNamespace(half_width=0.25))

    class Rule:
        def __init__(self, share, *, silos, least):
            made.rule = (share, silos, least)

        def is_met(self, starts):
            assert starts == "so far"
            return 10 * made.blocks >= made.narrow_from

    class Writer:
        def __init__(self):
            self.did = []

        def add(self, block):
            self.did.append(block)

        def flush(self):
            self.did.append("flush")

        def finish(self, steady, half_width_s):
            self.did.append((steady.is_exact, half_width_s))

    def simulate(job, take, *, title, block_messages, engine):
        made.asked = (title, block_messages, engine)
        for number in range(1, job.rounds // 10 + 1):
            steady = "proven" if made.proven_from is not None and 10 * number >= made.proven_from else None
            if take(SimpleNamespace(block=number, rounds=10 * number, steady=steady)):
                break
        return SimpleNamespace(
            steady=steady,
            engine="simpy",
            rounds=10 * number,
            messages=50 * number,
            wall_s=2.0,
            block=SimpleNamespace(link_bits=np.ones(2), now_s=3.0),
        )

    def run(
        *,
        narrow_from=None,
        proven_from=None,
        disturbed=False,
        constant=False,
        changes=None,
        writes=False,
        engine="simpy",
        **options,
    ):
        made.narrow_from, made.proven_from, made.disturbed, made.rule = (
            narrow_from,
            proven_from,
            disturbed,
            None,
        )
        monkeypatch.setattr(runner, "choose_engine", lambda _job, _name: engine)
        writer = Writer() if writes else None
        job = SimpleNamespace(
            rounds=100,
            silos=4,
            arcs=[None] * 5,
            computes=(True, False),
            changes=changes,
            sharing=SimpleNamespace(constant_rates=constant),
        )
        found = runner.run_job(job, "ring", engine=engine, writer=writer, **options)
        return found, made, writer

    monkeypatch.setattr(runner, "RoundStarts", Starts)
    monkeypatch.setattr(runner, "StopRule", Rule)
    monkeypatch.setattr(runner, "simulate_blocks", simulate)
    return run


def test_a_job_is_simulated_to_its_end_without_a_rule(job_run):
    found, made, _ = job_run()
    assert (found.kind, found.engine, found.rounds, found.messages) == ("ring", "simpy", 100, 500)
    assert (found.now_s, found.wall_s, found.link_bits.tolist()) == (3.0, 2.0, [1.0, 1.0])
    assert (found.half_width_s, found.starts, found.counts_disturbed) == (0.25, "counted", False)
    assert made.rule is None
    assert made.asked == ("ring", 10_000, "simpy")
    assert job_run(proven_from=30)[0].rounds == 100
    assert job_run(title=None)[1].asked[0] is None
    assert job_run(title="2 links, ")[1].asked[0] == "2 links, ring"
    assert job_run(changes=object())[1].asked[1] == 500


def test_a_job_ends_where_its_interval_is_narrow_and_no_round_is_missing(job_run):
    found, made, _ = job_run(until_ci="1 %", narrow_from=30)
    # Half of 0 rounds compute before.
    assert (found.rounds, made.rule) == (30, (0.01, 4, 0))
    found, made, _ = job_run(until_ci="1 %", narrow_from=30, least_rounds=60)
    assert (found.rounds, made.rule) == (70, (0.01, 4, 30))
    assert job_run(until_ci="1 %", narrow_from=30, least_rounds=59)[0].rounds == 60
    # What is known exactly is narrow enough.
    assert job_run(until_ci="1 %", narrow_from=90, proven_from=20)[0].rounds == 20
    assert job_run(narrow_from=30)[0].rounds == 100


def test_where_the_cycle_time_alone_is_looked_at_simpy_ends_with_its_proof(job_run):
    found, made, _ = job_run(cycle_time_only=True, proven_from=40)
    # The number of rounds is that of the job.
    assert (found.rounds, found.messages, found.half_width_s) == (100, 200, 0.0)
    # 16 rounds of 5 messages.
    assert made.asked == ("ring", 80, "simpy")
    for options in ({"engine": "compiled"}, {"writes": True}, {"until_ci": "1 %", "narrow_from": 999}):
        found, made, _ = job_run(cycle_time_only=True, proven_from=40, **options)
        assert made.asked[1] == 10_000
        assert found.messages == (200 if "until_ci" in options else 500)
    assert job_run(proven_from=40)[1].asked[1] == 10_000


def test_blocks_are_written_and_the_file_is_finished(job_run):
    _, _, writer = job_run(writes=True)
    assert writer.did == [*range(1, 11), "flush", (False, 0.25)]
    _, _, writer = job_run(writes=True, proven_from=10)
    assert writer.did[-1] == (True, 0.0)


@pytest.mark.parametrize(
    ("disturbed", "proven_from", "constant", "counts"),
    [
        (True, None, False, True),
        (False, None, False, False),
        (True, 10, False, False),
        (True, None, True, False),
    ],
)
def test_disturbed_rounds_count_in_estimates_on_shared_links(
    job_run, disturbed, proven_from, constant, counts
):
    found, _, _ = job_run(disturbed=disturbed, proven_from=proven_from, constant=constant)
    assert found.counts_disturbed is counts
