"""Which engine simulates a job, and what models of sharing may say of themselves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from simulator import Constant, FlowArc, Observer, engines, make_job, simulate_flows
from simulator.engines import choose_engine, make_engine
from simulator.sharing import SharingModel
from topologies import InputError


def job_of(arcs, rounds):
    """Two silos with parallel arcs in both directions, on links of their own."""
    return make_job(
        [FlowArc(source=i % 2, target=1 - i % 2, latency_s=0.5, links=(i % 2,)) for i in range(arcs)],
        link_capacity_bps=[1.0, 1.0],
        message_bits=1.0,
        compute=Constant(compute_s=[1.0, 1.0]),
        rounds=rounds,
    )


@pytest.mark.parametrize(
    ("arcs", "rounds", "engine"),
    [
        (2, 9_999, "simpy"),  # 19,998 messages
        (2, 10_000, "compiled"),
        (499, 1, "simpy"),
        (500, 1, "compiled"),
        (498, 41, "compiled"),
        (498, 40, "simpy"),
    ],
)
def test_many_messages_or_arcs_are_compiled(arcs, rounds, engine):
    job = job_of(arcs, rounds)
    assert choose_engine(job) == engine
    # Asked for it is taken, and where it cannot be SimPy simulates any number of messages.
    assert [choose_engine(job, name) for name in ("simpy", "compiled")] == ["simpy", "compiled"]
    rates = Observer(on_rates=print)
    assert choose_engine(job, observer=rates) == "simpy"
    assert choose_engine(job, observer=Observer(on_round=print)) == engine
    with pytest.raises(InputError, match=r"must be 'auto' or 'simpy' here: it calls no on_rates\.$"):
        choose_engine(job, "compiled", observer=rates)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_blocks_have_256_rounds_where_nothing_else_is_asked(engine):
    job = job_of(2, 600)
    lengths = {}
    for asked in (None, 599, 600, 601):
        running, lengths[asked] = make_engine(job, engine=engine, block_rounds=asked), []
        while (block := running.advance()) is not None:
            lengths[asked].append(len(block.messages.arrival_s))
    assert lengths == {None: [256, 256, 88], 599: [599, 1], 600: [600], 601: [600]}
    with pytest.raises(InputError, match=r"^block_rounds\(=0\) must be >= 1\.$"):
        make_engine(job, engine=engine, block_rounds=0)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize(
    ("arcs", "rounds"),
    [
        (0, 256),
        (1, 256),
        (4096, 256),
        (4097, 255),
        (8192, 128),
        (2**19, 2),
        (2**19 + 1, 1),
        (2**20, 1),
        (2**20 + 1, 1),
    ],
)
def test_a_block_has_a_million_messages_at_most_and_one_round_at_least(monkeypatch, engine, arcs, rounds):
    monkeypatch.setattr(engines, "choose_engine", lambda *_, **__: engine)
    monkeypatch.setattr(engines, "CompiledEngine", lambda _job, block_rounds: block_rounds)
    monkeypatch.setattr(engines, "SimpyEngine", lambda _job, *, block_rounds, **_: block_rounds)
    job = SimpleNamespace(arcs=range(arcs))

    assert make_engine(job) == rounds
    assert make_engine(job, block_rounds=1000) == 1000


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"compiled": "fair"}, "compiled(='fair') must be 'maxmin' or 'equal'."),
        ({"compiled": "equal"}, "constant_rates(=False) must be True with compiled(='equal')."),
        (
            {"compiled": "maxmin", "constant_rates": True},
            "constant_rates(=True) must be False with compiled(='maxmin').",
        ),
        ({"weights": list}, "weights must be None with compiled(=None)."),
        (
            {"weights": list, "compiled": "equal", "constant_rates": True},
            "weights must be None with compiled(='equal').",
        ),
    ],
)
def test_what_does_not_go_together_in_a_model_of_sharing(settings, rule):
    with pytest.raises(InputError) as caught:
        SharingModel(name="mine", network=print, **settings)
    assert str(caught.value) == rule


@pytest.mark.parametrize(
    ("weights", "rule"),
    [
        ([1.0], "weights of sharing 'mine'(of 1 numbers) must hold 2."),
        ([1.0, 0.0], "weights of sharing 'mine'[1](=0.0) must be finite and > 0."),
        ([math.inf, 1.0], "weights of sharing 'mine'[0](=inf) must be finite and > 0."),
    ],
)
def test_weights_are_finite_numbers_above_0_for_each_arc(weights, rule):
    model = SharingModel(
        name="mine", network=print, compiled="maxmin", weights=lambda _job: np.array(weights)
    )
    with pytest.raises(InputError) as caught:
        model.arc_weights(job_of(2, 1))
    assert str(caught.value) == rule


def test_weights_are_1_where_none_are_given():
    assert SharingModel(name="mine", network=print, compiled="maxmin").arc_weights(job_of(3, 1)) == [1.0] * 3


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_the_observer_hears_of_each_round_when_its_last_silo_starts(engine):
    heard = []
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,)) for i in range(2)]
    timeline = simulate_flows(
        pair,
        link_capacity_bps=[1.0, 2.0],
        message_bits=4.0,
        compute_s=[1.0, 3.0],
        rounds=3,
        engine=engine,
        observer=Observer(on_round=lambda *seen: heard.append(seen)),
    )
    # Silo 0 sends in 4 s and silo 1 in 2 s: both models arrive after 5.5 s; then the same again.
    assert heard == [(0, 0.0), (1, 5.5), (2, 11.0), (3, 16.5)]
    assert timeline.round_start_s.tolist() == [[0, 0], [5.5, 5.5], [11, 11], [16.5, 16.5]]


def test_computing_times_are_given_once():
    pair = [FlowArc(source=i, target=1 - i, latency_s=0.5, links=(i,)) for i in range(2)]
    given = {"link_capacity_bps": [1.0, 2.0], "message_bits": 4.0, "rounds": 1}
    with pytest.raises(InputError, match=r"^compute_s or compute must be given\.$"):
        simulate_flows(pair, **given)
    with pytest.raises(InputError, match=r"^compute_s and compute must not both be given\.$"):
        simulate_flows(pair, **given, compute_s=[1, 1], compute=Constant(compute_s=[1.0, 1.0]))
