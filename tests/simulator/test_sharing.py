"""Sharing models of other packages: the documented example as an argument and through an entry point."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulator import (
    ConstantShare,
    FlowArc,
    Job,
    LinkFailure,
    Observer,
    SharingModel,
    overlay_job,
    simulate,
    simulate_flows,
)
from simulator.compute_times import Constant
from simulator.engines import choose_engine, make_engine
from simulator.job import make_job
from simulator.sharing import sharing_model, sharing_names
from simulator.simpy_engine.equal import EqualNetwork
from simulator.simpy_engine.fluid import FluidNetwork
from topologies import AccessLinks, InputError, Workload, connectivity, design, design_random, load_underlay
from topologies.errors import MachineError, SilosimError

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "hop_sharing.py"

OWN = ("maxmin", "equal", "rtt_weighted")

LOOP = [
    FlowArc(source=0, target=1, latency_s=0.5, links=(0,)),
    FlowArc(source=1, target=0, latency_s=1.0, links=(0, 1)),
]
"""Two flows on one link, of which one crosses another one, too."""
LINKS_BPS = [3.0, math.inf]
TWO_FLOWS = {"link_capacity_bps": LINKS_BPS, "message_bits": 6.0, "compute_s": [1.0, 1.0], "rounds": 1}


@pytest.fixture(scope="module")
def example():
    """The module of the example, as Python imports it from its file."""
    spec = importlib.util.spec_from_file_location("hop_sharing", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def install(install_package):
    """Install a package with the example, whose entry point refers to something in it."""
    modules = {"hop_sharing": EXAMPLE.read_text("utf-8")}

    def install_it(name, attribute, package="hop-sharing"):
        install_package(package, f"[silosim.sharing]\n{name} = hop_sharing:{attribute}\n", modules)

    return install_it


def check_two_flows(sharing):
    """From 1 s on the flows have 2 and 1 bit/s; the first leaves at 4 s, the second, then alone, at 5 s."""
    rates = []
    watch = Observer(on_rates=lambda now_s, arcs, rates_bps: rates.append((now_s, arcs, rates_bps)))
    timeline = simulate_flows(LOOP, **TWO_FLOWS, sharing=sharing, observer=watch)
    assert rates[:2] == [(1.0, [0, 1], pytest.approx([2.0, 1.0])), (4.0, [1], pytest.approx([3.0]))]
    assert timeline.arrival_s.tolist() == [pytest.approx([4.5, 6.0])]
    assert timeline.engine == "simpy"


def test_the_example_as_an_argument(example):
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40
    check_two_flows(example.HOP_WEIGHTED)


def test_the_example_through_an_entry_point(install):
    install("hop_weighted", "HOP_WEIGHTED")
    assert sharing_names() == (*OWN, "hop_weighted")
    check_two_flows("hop_weighted")
    with pytest.raises(
        InputError,
        match=r"^sharing\(='fair'\) must be 'maxmin', 'equal', 'rtt_weighted' or 'hop_weighted'\.$",
    ):
        sharing_model("fair")


def test_equal_weights_are_max_min_fair(example):
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    ring = design("ring", graph, Workload.preset("inaturalist"))
    weight = [0.3] * len(ring.source)

    def network(setup):
        return FluidNetwork(setup, share=lambda *flows: example.weighted_filling(*flows, weight))

    alike = SharingModel(name="alike", network=network)
    shared, weighted = (simulate(ring, 20, sharing=how) for how in ("maxmin", alike))
    np.testing.assert_allclose(weighted.round_start_s, shared.round_start_s, rtol=1e-9)


def test_the_compiled_engine_takes_the_weights_of_the_example(example):
    fast = replace(example.HOP_WEIGHTED, compiled="maxmin", weights=example.weights)
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    star = design("star", graph, Workload.preset("inaturalist"))
    simpy, compiled = (simulate(star, 8, sharing=fast, engine=name) for name in ("simpy", "compiled"))
    assert compiled.engine == "compiled"
    np.testing.assert_allclose(compiled.round_start_s, simpy.round_start_s, rtol=1e-9)
    shared = simulate(star, 8)
    assert abs(compiled.round_start_s[-1, 0] / shared.round_start_s[-1, 0] - 1) > 1e-3


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ([1.0], r"^weights of sharing 'hop_weighted'\(of 1 numbers\) must hold 2\.$"),
        ([1.0, -1.0], r"^weights of sharing 'hop_weighted'\[1\]\(=-1\.0\) must be finite and > 0\.$"),
    ],
)
def test_wrong_weights_are_an_error(example, weights, error):
    wrong = replace(example.HOP_WEIGHTED, compiled="maxmin", weights=lambda _: weights)
    with pytest.raises(InputError, match=error):
        simulate_flows(LOOP, **TWO_FLOWS, sharing=wrong, engine="compiled")


def test_a_repeat_of_the_example_is_proven(example):
    short, long = (
        simulate_flows(LOOP, **TWO_FLOWS | {"rounds": rounds}, sharing=example.HOP_WEIGHTED)
        for rounds in (12, 40)
    )
    assert short.cycle_time_is_exact
    np.testing.assert_allclose(short.start_s(30), long.round_start_s[30], rtol=1e-9)


def test_only_simpy_knows_the_example(example):
    job = make_job(
        LOOP,
        link_capacity_bps=LINKS_BPS,
        message_bits=6.0,
        compute=Constant(compute_s=np.ones(2)),
        rounds=100_000,
        sharing=example.HOP_WEIGHTED,
    )
    assert choose_engine(job) == "simpy"
    assert choose_engine(replace(job, sharing="maxmin")) == "compiled"
    with pytest.raises(InputError) as caught:
        choose_engine(job, "compiled")
    assert str(caught.value) == (
        "engine(='compiled') must be 'auto' or 'simpy' here: it does not know sharing 'hop_weighted'."
    )


def test_changes_need_a_network_that_can_change(example):
    with pytest.raises(InputError) as caught:
        simulate_flows(LOOP, **TWO_FLOWS, sharing=example.HOP_WEIGHTED, changes=lambda: iter(()))
    assert str(caught.value) == (
        "sharing(='hop_weighted') must be a model whose network can change, such as 'maxmin', where "
        "the network changes: its network cannot change."
    )


def test_a_constant_share_is_a_smaller_capacity_for_any_network(example, graph, work):
    ring = design("ring", graph, work)
    shared = simulate(ring, 5, sharing=example.HOP_WEIGHTED, events=[ConstantShare(share=0.5)])
    halved = replace(
        overlay_job(ring, 5, sharing=example.HOP_WEIGHTED),
        link_capacity_bps=tuple(
            capacity * (0.5 if link < graph.first_uplink else 1.0)
            for link, capacity in enumerate(graph.link_capacity_bps)
        ),
    )
    engine = make_engine(halved, block_rounds=5)
    np.testing.assert_array_equal(shared.round_start_s[:5], engine.advance().round_start_s[:5])

    failure = LinkFailure(link=0, from_s=1.0, until_s=2.0)
    with pytest.raises(
        InputError, match=r"^sharing\(='hop_weighted'\) must be a model whose network can change"
    ):
        simulate(ring, 5, sharing=example.HOP_WEIGHTED, events=[failure])


@pytest.mark.parametrize(
    ("make", "kind", "seed"), [(design, "ring", {}), (design_random, "random_ring", {"seed": 0})]
)
def test_only_models_of_constant_rates_get_a_sending_time(graph, work, make, kind, seed):
    ring = make(kind, graph, work)
    eager = SharingModel(name="eager", network=EqualNetwork)
    with pytest.raises(InputError) as caught:
        simulate(ring, 5, sharing=eager, **seed)
    assert (
        str(caught.value) == "sharing(='eager') must have constant_rates=True: its network calls sending_s."
    )

    constant = replace(eager, constant_rates=True)
    own, equal = (simulate(ring, 5, sharing=how, **seed) for how in (constant, "equal"))
    np.testing.assert_array_equal(own.round_start_s, equal.round_start_s)


@pytest.mark.parametrize(("name", "attribute"), [("other", "HOP_WEIGHTED"), ("hop_weighted", "network")])
def test_an_entry_point_must_hold_the_model_of_its_name(install, name, attribute):
    install(name, attribute)
    with pytest.raises(
        InputError, match=rf"^sharing\(='{name}'\): hop_sharing:{attribute}, its entry point in "
    ):
        sharing_model(name)


def test_a_model_that_cannot_be_imported_is_named(install):
    install("hop_weighted", "NO_SUCH_MODEL")
    assert sharing_model("maxmin").name == "maxmin"
    with pytest.raises(
        MachineError,
        match=r"^the sharing model hop_weighted \(hop_sharing:NO_SUCH_MODEL\) cannot be imported: AttributeError: ",
    ):
        sharing_model("hop_weighted")


def test_a_name_of_silosim_stays_its_own(install):
    install("maxmin", "NO_SUCH_MODEL")
    assert sharing_names() == OWN
    assert sharing_model("maxmin").compiled == "maxmin"


def test_a_name_of_two_packages_is_an_error_where_it_is_asked_for(install):
    install("hop_weighted", "HOP_WEIGHTED")
    install("hop_weighted", "NO_SUCH_MODEL", package="other")
    assert sharing_names() == (*OWN, "hop_weighted")
    with pytest.raises(
        InputError,
        match=r"^the sharing model hop_weighted is registered more than once in silosim\.sharing: "
        r"hop_sharing:HOP_WEIGHTED, hop_sharing:NO_SUCH_MODEL\.$",
    ):
        sharing_model("hop_weighted")


def test_a_model_cannot_claim_rates_that_the_compiled_engine_does_not_compute(example):
    with pytest.raises(SilosimError, match=r"^compiled\(='hop_weighted'\) must be 'maxmin' or 'equal'\.$"):
        replace(example.HOP_WEIGHTED, compiled="hop_weighted")
    with pytest.raises(
        SilosimError, match=r"^constant_rates\(=False\) must be True with compiled\(='equal'\)\.$"
    ):
        replace(example.HOP_WEIGHTED, compiled="equal")
    with pytest.raises(SilosimError, match=r"^weights must be None with compiled\(=None\)\.$"):
        replace(example.HOP_WEIGHTED, weights=example.weights)


def test_a_job_looks_a_name_up():
    job = make_job(
        LOOP, link_capacity_bps=LINKS_BPS, message_bits=6.0, compute=Constant(compute_s=np.ones(2)), rounds=1
    )
    assert isinstance(job, Job)
    assert isinstance(replace(job, sharing="equal").sharing, SharingModel)
    assert (
        repr(replace(job, sharing="equal"))
        == "Job(2 silos, 2 arcs, 1 rounds, sharing='equal', queueing='fifo')"
    )
