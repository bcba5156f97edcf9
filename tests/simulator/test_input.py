"""Bad input gives one line that names field, value and rule."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from simulator import Constant, FlowArc, Job, make_job, overlay_job, simulate, simulate_flows, stream
from simulator.flows import run as run_job
from topologies import design
from topologies.errors import InputError

PAIR = [
    FlowArc(source=0, target=1, latency_s=0.1, links=(0,), rate_bps=1.0),
    FlowArc(source=1, target=0, latency_s=0.1, links=(1,), rate_bps=1.0),
]

STRONG = "the arcs must join all silos in both directions"


def arc(source, target):
    return FlowArc(source=source, target=target, latency_s=0.1, links=(0,), rate_bps=1.0)


def run(**changes):
    job = {
        "arcs": PAIR,
        "link_capacity_bps": [1.0, 1.0],
        "message_bits": 1.0,
        "compute_s": [1.0, 1.0],
        "rounds": 2,
    }
    return simulate_flows(**(job | changes))


def arcs(**changes):
    values = {"source": 0, "target": 1, "latency_s": 0.1, "links": (0,), "rate_bps": 1.0} | changes
    return [PAIR[1], FlowArc(**values)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 0}, "rounds(=0) must be >= 1."),
        ({"rounds": -3}, "rounds(=-3) must be >= 1."),
        ({"rounds": 2.5}, "rounds(=2.5) must be an integer."),
        ({"compute_s": [1.0, -0.5]}, "compute_s[1](=-0.5) must be finite and >= 0."),
        ({"compute_s": [math.nan, 1.0]}, "compute_s[0](=nan) must be finite and >= 0."),
        ({"compute_s": [1.0, math.inf]}, "compute_s[1](=inf) must be finite and >= 0."),
        ({"compute_s": []}, "compute_s(=[]) must hold one number per silo, for 1 or more silos."),
        ({"compute_s": 1.0}, "compute_s(of shape ()) must have one dimension."),
        ({"compute_s": ["fast", 1.0]}, "compute_s(=['fast', 1.0]) must hold numbers."),
        ({"link_capacity_bps": [1.0, 0.0]}, "link_capacity_bps[1](=0.0) must be > 0."),
        ({"link_capacity_bps": [-1.0, 1.0]}, "link_capacity_bps[0](=-1.0) must be > 0."),
        ({"link_capacity_bps": [1.0, math.nan]}, "link_capacity_bps[1](=nan) must be > 0."),
        ({"message_bits": -1.0}, "message_bits(=-1.0) must be finite and >= 0."),
        ({"message_bits": [1.0, math.nan]}, "message_bits[1](=nan) must be finite and >= 0."),
        ({"message_bits": math.inf}, "message_bits(=inf) must be finite and >= 0."),
        (
            {"message_bits": 1.7e308, "link_capacity_bps": [1e300, 1e300]},
            "message_bits(=1.7e+308) must not pass 1.8e308 bits on all 2 arcs in all 2 rounds.",
        ),
        (
            {"message_bits": [1.7e308, 1e308], "link_capacity_bps": [1e300, 1e300]},
            "message_bits(=1.7e+308) must not pass 1.8e308 bits on all 2 arcs in all 2 rounds.",
        ),
        ({"message_bits": [1.0]}, "message_bits(of shape (1,)) must be one number, or one per arc (2)."),
        ({"message_bits": "1 MB"}, "message_bits(='1 MB') must hold numbers."),
        ({"arcs": arcs(target=2)}, "target of arc 1(=2) must be >= 0 and < 2, the silo count."),
        ({"arcs": arcs(source=-1)}, "source of arc 1(=-1) must be >= 0 and < 2, the silo count."),
        ({"arcs": arcs(source=0.5)}, "source of arc 1(=0.5) must be an integer."),
        ({"arcs": arcs(links=(0, 2))}, "links of route 1(=(0, 2)) must be >= 0 and < 2, the link count."),
        ({"arcs": arcs(links=(-1,))}, "links of route 1(=(-1,)) must be >= 0 and < 2, the link count."),
        ({"arcs": arcs(links=(1, 1))}, "links of route 1(=(1, 1)) must not repeat."),
        ({"sharing": "fair"}, "sharing(='fair') must be 'maxmin', 'equal' or 'rtt_weighted'."),
        ({"queueing": "lifo"}, "queueing(='lifo') must be 'fifo' or 'overlap'."),
        ({"sharing": "equal", "arcs": arcs(rate_bps=0.0)}, "rate_bps of arc 1(=0.0) must be > 0."),
        ({"sharing": "equal", "arcs": arcs(rate_bps=-1.0)}, "rate_bps of arc 1(=-1.0) must be > 0."),
        ({"sharing": "equal", "arcs": arcs(rate_bps=math.nan)}, "rate_bps of arc 1(=nan) must be > 0."),
        (
            {"message_bits": 1e300, "link_capacity_bps": [1.0, 1e-300]},
            "sending time of arc 1(=inf s) must be finite.",
        ),
        (
            {"message_bits": [1e18, 1.0]},
            "sending time of arc 1(=1.0 s) must be longer than what floating point loses at 2e+18 s, "
            "when arc 0 has sent its messages.",
        ),
        (
            {"message_bits": 1e18, "compute_s": [1.0, 2.0]},
            "computing time of silo 1(=2.0 s) must be longer than what floating point loses at 2e+18 s, "
            "when arc 0 has sent its messages.",
        ),
        (
            {"message_bits": 1e16, "rounds": 10},
            "computing time of silo 0(=1.0 s) must be longer than what floating point loses at 1e+17 s, "
            "when arc 0 has sent its messages.",
        ),
        (
            {"message_bits": [1.0, 1e18], "rounds": 1},
            "sending time of arc 0(=1.0 s) must be longer than what floating point loses at 1e+18 s, "
            "when arc 1 has sent its messages.",
        ),
        (
            {"message_bits": [0.0, 1e18], "rounds": 1, "compute_s": [1.0, 2.0]},
            "computing time of silo 1(=2.0 s) must be longer than what floating point loses at 1e+18 s, "
            "when arc 1 has sent its messages.",
        ),
        (
            {"message_bits": [1.0, 1e308], "rounds": 10},
            "sending time of arc 1(=1e+308 s) must not pass 1.8e308 s in all rounds.",
        ),
        (
            {"message_bits": 1e308, "rounds": 10},
            "sending time of arc 0(=1e+308 s) must not pass 1.8e308 s in all rounds.",
        ),
        ({"compute": Constant(compute_s=[1.0, 1.0])}, "compute_s and compute must not both be given."),
        ({"compute_s": [1.0, 1.0, 1.0]}, f"no arc enters silo 2: {STRONG}."),
        ({"arcs": PAIR[:1]}, f"no arc enters silo 0: {STRONG}."),
        ({"arcs": [*PAIR, arc(0, 2)], "compute_s": [1.0] * 3}, f"no arc leaves silo 2: {STRONG}."),
        ({"arcs": [*PAIR, arc(2, 0)], "compute_s": [1.0] * 3}, f"no arc enters silo 2: {STRONG}."),
        (
            {"arcs": [*PAIR, arc(2, 3), arc(3, 2), arc(0, 2)], "compute_s": [1.0] * 4},
            f"{STRONG}, but nothing that silo 2 sends can reach silo 0.",
        ),
        ({"arcs": [], "compute_s": [1.0, 1.0]}, f"no arc enters silo 0: {STRONG}."),
    ],
)
def test_a_bad_value_is_named(changes, message):
    with pytest.raises(InputError) as caught:
        run(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sharing": "hop_weighted"},
            "sharing(='hop_weighted') must be 'maxmin', 'equal' or 'rtt_weighted'.",
        ),
        ({"sharing": "Equal"}, "sharing(='Equal') must be 'maxmin', 'equal' or 'rtt_weighted'."),
        ({"sharing": None}, "sharing(=None) must be 'maxmin', 'equal' or 'rtt_weighted'."),
        ({"sharing": ["equal"]}, "sharing(=['equal']) must be 'maxmin', 'equal' or 'rtt_weighted'."),
        ({"queueing": "lifo"}, "queueing(='lifo') must be 'fifo' or 'overlap'."),
        (
            {"sharing": "equal", "changes": lambda: iter(())},
            "sharing(='equal') must be a model whose network can change, such as 'maxmin', "
            "where the network changes: constant rates do not follow changes.",
        ),
    ],
)
def test_a_job_made_directly_names_what_no_engine_knows(changes, message):
    job = make_job(
        PAIR, link_capacity_bps=[1.0, 1.0], message_bits=1, compute=Constant(compute_s=[1.0, 1.0]), rounds=2
    )
    values = {field.name: getattr(job, field.name) for field in fields(Job)}

    for make in (lambda: Job(**values | changes), lambda: replace(job, **changes)):
        with pytest.raises(InputError) as caught:
            make()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "ask",
    [
        lambda ring, name: simulate(ring, 3, sharing=name),
        lambda ring, name: simulate(ring, 3, queueing=name),
        lambda ring, name: simulate(ring, 3, engine=name),
        lambda ring, name: overlay_job(ring, 3, sharing=name),
        lambda ring, name: overlay_job(ring, 3, queueing=name),
        lambda ring, name: list(stream(overlay_job(ring, 3), engine=name)),
        lambda ring, name: run_job(overlay_job(ring, 3), engine=name, messages=False),
    ],
)
def test_a_name_that_no_engine_knows_is_answered_with_those_that_are(ask, graph, work):
    ring = design("ring", graph, work)
    with pytest.raises(
        InputError,
        match=r"^(sharing|queueing|engine)\(='hop_weighted'\) must be ('\w+', )*'\w+' or '\w+'.*\.$",
    ):
        ask(ring, "hop_weighted")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": 0}, "arc 0 -> 0: target(=0) must differ from source."),
        ({"latency_s": -0.1}, "arc 0 -> 1: latency_s(=-0.1) must be finite and >= 0."),
        ({"latency_s": math.nan}, "arc 0 -> 1: latency_s(=nan) must be finite and >= 0."),
        ({"latency_s": math.inf}, "arc 0 -> 1: latency_s(=inf) must be finite and >= 0."),
        ({"tokens": 2}, "arc 0 -> 1: tokens(=2) must be 0 or 1."),
    ],
)
def test_a_bad_arc_is_named(changes, message):
    with pytest.raises(InputError) as caught:
        arcs(**changes)
    assert str(caught.value) == message


def test_arcs_without_tokens_must_not_form_a_circuit():
    circuit = [FlowArc(source=i, target=(i + 1) % 2, latency_s=1.0, links=(), tokens=0) for i in range(2)]
    with pytest.raises(
        InputError, match=r"arcs with 0 tokens must not form a circuit, but silos . -> . -> . do\."
    ):
        run(arcs=circuit)


@pytest.mark.parametrize(
    "no_sending",
    [
        {"message_bits": 0.0},
        {"link_capacity_bps": [math.inf, math.inf]},
        {"sharing": "equal"},
    ],
)
def test_time_must_advance_around_every_circuit(no_sending):
    circuit = [FlowArc(source=i, target=1 - i, latency_s=0.0, links=(i,)) for i in range(2)]
    with pytest.raises(InputError, match=r"take 0 s must not form a circuit, but silos . -> . -> . do\."):
        run(arcs=circuit, compute_s=[0.0, 0.0], **no_sending)


def test_a_message_without_time_may_stand_beside_a_long_one():
    timeline = run(message_bits=[1e18, 0.0], compute_s=[0.0, 0.0])
    assert timeline.arrival_s[0].tolist() == [1e18, 0.1]


def test_a_short_computing_time_may_stand_beside_a_long_one():
    timeline = run(message_bits=2.0**40, compute_s=[1.0, 1e-9], rounds=1)
    assert timeline.arrival_s[0].tolist() == [2.0**40 + 1.0 + 0.1, 2.0**40 + 0.1]


def test_any_delay_lets_time_advance():
    circuit = [FlowArc(source=i, target=1 - i, latency_s=0.0, links=()) for i in range(2)]
    timeline = run(arcs=circuit, compute_s=[0.0, 1e-3])
    assert timeline.round_start_s[:, 1].tolist() == [0.0, 1e-3, 2e-3]


def test_a_rate_is_not_needed_without_bits():
    timeline = run(arcs=arcs(rate_bps=0.0), message_bits=0, sharing="equal")
    assert timeline.round_start_s[1].tolist() == [1.1, 1.1]


def test_inputs_stay_as_they_are():
    values = {
        "link_capacity_bps": np.array([1.0, 2.0]),
        "message_bits": np.array([1.0, 2.0]),
        "compute_s": np.array([1.0, 2.0]),
    }
    copies = {name: array.copy() for name, array in values.items()}
    for array in values.values():
        array.flags.writeable = False
    run(**values)
    for name, array in values.items():
        assert np.array_equal(array, copies[name])
