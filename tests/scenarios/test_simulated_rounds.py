"""Simulated rounds in a file in memory: what is allocated, what each block and the end write, and how large it gets."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig
from scenarios.runfile import simulated_rounds
from scenarios.runfile.simulated_rounds import (
    SimulationWriter,
    allocate,
    file_bytes,
    head_bytes,
    make_dataset,
    recorded_absences,
)
from scenarios.runfile.writer import RunHead, write_head
from simulator import Messages, SteadyState, overlay_job
from topologies import AccessLinks, Workload, build_overlay, connectivity, load_underlay
from topologies.random_cycle_time import RANDOM_ROUNDS

NUMBER = 8
UNDERLAY = load_underlay("gaia")


@pytest.fixture(scope="module")
def job():
    """Five rounds of a ring of three silos."""
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2])
    overlay = build_overlay("ring", graph, Workload(model_bits=1e6, compute_s=0.01), [(0, 1), (1, 2), (2, 0)])
    return overlay_job(overlay, 5)


def sized(*, silos=3, arcs=4, links=7, rounds=50, plan=None):
    """What an estimate reads of a job."""
    return SimpleNamespace(
        silos=silos, arcs=range(arcs), link_capacity_bps=range(links), rounds=rounds, plan=plan
    )


def numbers(*jobs, messages=False, rows=0, underlay=UNDERLAY):
    return file_bytes(jobs, messages=messages, rows=rows, underlay=underlay) / NUMBER


def test_a_round_more_takes_a_start_of_each_silo_and_an_arrival_of_each_arc():
    assert numbers(sized(rounds=51)) - numbers(sized()) == 3 + 4
    # With all messages their starts, last bits and links, too.
    assert numbers(sized(rounds=51), messages=True) - numbers(sized(), messages=True) == 3 + 4 * 4
    # There is a date more than rounds, and a consensus matrix.
    alone = numbers(sized(rounds=0, arcs=0, links=0))
    assert alone == 3 + 3 * 3 + head_bytes(UNDERLAY, 3) / NUMBER


def test_a_training_row_takes_its_metrics_and_two_of_each_silo():
    # Nine numbers of a row and its date; the loss and accuracy of each silo.
    assert numbers(sized(), rows=6) - numbers(sized(), rows=5) == 9 + 1 + 2 * 3
    assert numbers(sized(), sized(), rows=1) - numbers(sized(), sized()) == 2 * (10 + 2 * 3)


def test_longer_names_take_more_at_both_ends_of_arcs_and_of_links():
    # Two labels of four more letters, that is one number more, stand at each end of an arc and once for each link.
    labels = (f"{max(UNDERLAY.labels, key=len)}1234", *UNDERLAY.labels[1:])
    longer = replace(UNDERLAY, labels=labels)
    assert numbers(sized(), underlay=longer) - numbers(sized()) == 2 * 4 + 7
    # Letters of two bytes are two.
    wide = replace(UNDERLAY, labels=(f"{max(UNDERLAY.labels, key=len)}éé", *UNDERLAY.labels[1:]))
    assert numbers(sized(), underlay=wide) == numbers(sized(), underlay=longer)
    # Arcs of a randomized overlay's rounds have their names once more.
    drawn = sized(plan="drawn")
    assert numbers(drawn, underlay=longer) - numbers(drawn) == 2 * 4 + 7 + 2 * 4


def test_rounds_of_a_randomized_overlay_take_weights_and_bits_of_arcs():
    few, many = (sized(plan="drawn", rounds=RANDOM_ROUNDS + more) for more in (0, 1))
    # Beside the simulation's own: a weight of each arc, one of each silo, and a number for the bits of 64 arcs.
    assert numbers(many) - numbers(few) == (3 + 4) + (3 + 4 + 1)
    # At least so many are drawn, as closed forms are estimated from them.
    fewer = sized(plan="drawn", rounds=RANDOM_ROUNDS - 1)
    assert numbers(few) - numbers(fewer) == 3 + 4
    wide = [sized(arcs=128, plan="drawn", rounds=RANDOM_ROUNDS + more) for more in (0, 1)]
    assert numbers(wide[1]) - numbers(wide[0]) == (3 + 128) + (3 + 128 + 2 + 1)


def test_an_estimate_is_that_of_all_overlays_and_of_one_head():
    one, two = sized(), sized(silos=5, arcs=9)
    assert numbers(one, two) == numbers(one) + numbers(two) - head_bytes(UNDERLAY, 3) / NUMBER
    assert numbers(two, one) == numbers(one, two)


def test_a_head_has_two_numbers_for_each_pair_of_silos_and_those_of_the_network():
    assert head_bytes(UNDERLAY, 11) - head_bytes(UNDERLAY, 10) == NUMBER * (2 * (121 - 100) + 64)
    measured = load_underlay("clouds")
    sites, pairs = measured.routers, measured.links
    assert head_bytes(measured, 1) - head_bytes(UNDERLAY, 1) == NUMBER * (
        16 * (sites - UNDERLAY.routers) + 4 * (pairs - UNDERLAY.links) + 2 * sites**2
    )
    routes = SimpleNamespace(routers=range(30), first=range(4))
    stated = SimpleNamespace(
        routers=UNDERLAY.routers, links=UNDERLAY.links, measured=None, stated_routes=routes
    )
    assert head_bytes(stated, 1) - head_bytes(UNDERLAY, 1) == NUMBER * 34


def test_a_head_is_not_larger_than_estimated(file_in_memory):
    graph = connectivity(UNDERLAY, access=AccessLinks(up_bps=1e8, down_bps=1e8))
    work = Workload(model_bits=1e6, compute_s=0.01)
    network = NetworkConfig(underlay="gaia")
    write_head(
        file_in_memory, RunHead(scenario="#" * 60_000, network=network, seed=0, graph=graph, work=work)
    )
    assert 60_000 < file_in_memory.id.get_filesize() <= head_bytes(UNDERLAY, 11)


@pytest.mark.parametrize("messages", [False, True])
def test_what_is_allocated_says_that_nothing_is_simulated(file_in_memory, job, messages):
    allocate(file_in_memory, "ring", job, messages=messages, engine="simpy")
    group = file_in_memory["simulation/ring"]
    attrs = dict(group.attrs)
    unknown = [name for name in attrs if isinstance(attrs[name], float) and np.isnan(attrs[name])]
    assert sorted(unknown) == ["cycle_time_s", "end_s", "half_width_s", "period_s"]
    assert {name: attrs[name] for name in attrs if name not in unknown} == {
        "rounds": 0,
        "cycle_time_is_exact": False,
        "period_rounds": -1,
        "transient_rounds": -1,
        "sharing": "maxmin",
        "queueing": job.queueing,
        "engine": "simpy",
    }
    links = len(job.link_capacity_bps)
    shapes = {
        "round_start_s": (6, 3),
        "arrival_s": (5, 3),
        "link_bits": (links,),
        "link_capacity_bps": (links,),
    }
    whole = {"start_s": (5, 3), "last_bit_s": (5, 3), "bound_link": (5, 3)}
    shapes |= whole if messages else {}
    assert {name: group[name].shape for name in group if name != "absences"} == shapes
    for name in shapes:
        if name == "bound_link":
            assert group[name].dtype == np.int32
            assert (group[name][...] == -1).all()
        else:
            assert np.isnan(group[name][...]).all()
    assert group["absences"].shape == (0, 3)
    assert recorded_absences(group) == []


def test_absences_are_rows_of_silo_and_rounds(file_in_memory, job):
    allocate(file_in_memory, "ring", replace(job, absences=((1, 2, 4),)), messages=False)
    assert recorded_absences(file_in_memory["simulation/ring"]) == [(1, 2, 4)]
    columns = file_in_memory["simulation/ring/absences"].attrs["columns"]
    assert columns == "silo, first missed round, the round in which it is back"
    del file_in_memory["simulation/ring/absences"]
    assert recorded_absences(file_in_memory["simulation/ring"]) == []


def block(first, rounds, *, dates=None, links=6):
    """Rounds whose dates are their numbers; the last block has the end of the job as well."""
    start_s = np.repeat(np.arange(first, first + (dates or rounds), dtype=float)[:, None], 3, axis=1)
    arrival_s = start_s[:rounds] + 0.5
    return SimpleNamespace(
        first_round=first,
        rounds=rounds,
        now_s=float(first + rounds),
        round_start_s=start_s,
        link_bits=np.full(links, 10.0 * (first + rounds)),
        messages=Messages(
            start_s=start_s[:rounds],
            last_bit_s=start_s[:rounds] + 0.25,
            arrival_s=arrival_s,
            bound_link=np.full((rounds, 3), 2, dtype=np.int32),
        ),
    )


def writer_of(file, job, **options):
    allocate(file, "ring", job, messages=True)
    return file["simulation/ring"], SimulationWriter(file, "ring", **options), len(job.link_capacity_bps)


def test_blocks_are_written_at_their_rounds_and_counted_once_they_are_flushed(
    file_in_memory, job, monkeypatch
):
    monkeypatch.setattr(simulated_rounds, "_FLUSH_S", np.inf)
    group, writer, links = writer_of(file_in_memory, job)
    writer.add(block(0, 2, links=links))
    writer.add(block(2, 3, dates=4, links=links))
    assert group.attrs["rounds"] == 0
    assert np.isnan(group.attrs["end_s"])
    writer.flush()
    assert (group.attrs["rounds"], group.attrs["end_s"]) == (5, 5.0)
    assert (group["link_bits"][...] == 50.0).all()
    assert group["round_start_s"][:, 1].tolist() == [0, 1, 2, 3, 4, 5]
    assert group["start_s"][:, 2].tolist() == [0, 1, 2, 3, 4]
    assert group["last_bit_s"][:, 0].tolist() == [0.25, 1.25, 2.25, 3.25, 4.25]
    assert group["arrival_s"][:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert (group["bound_link"][...] == 2).all()
    # Nothing new: a second flush leaves what is there.
    group["link_bits"][...] = 7.0
    writer.flush()
    assert (group["link_bits"][...] == 7.0).all()
    assert group.attrs["end_s"] == 5.0


def test_blocks_are_flushed_at_once_where_the_last_flush_is_long_ago(file_in_memory, job, monkeypatch):
    monkeypatch.setattr(simulated_rounds, "_FLUSH_S", -1.0)
    group, writer, links = writer_of(file_in_memory, job)
    writer.add(block(0, 2, links=links))
    assert (group.attrs["rounds"], group.attrs["end_s"]) == (2, 2.0)
    assert (group["link_bits"][...] == 20.0).all()


@pytest.mark.parametrize(
    ("ended", "since", "flushed"), [(100.5, "begin", False), (100.6, "begin", True), (101.0, "flush", False)]
)
def test_a_block_is_flushed_half_a_second_after_the_last_flush(
    file_in_memory, job, monkeypatch, ended, since, flushed
):
    now = [100.0]
    monkeypatch.setattr(simulated_rounds.time, "monotonic", lambda: now[0])
    group, writer, links = writer_of(file_in_memory, job)
    if since == "flush":
        now[0] = 100.75
        writer.flush()
    now[0] = ended
    writer.add(block(0, 2, links=links))
    assert group.attrs["rounds"] == (2 if flushed else 0)


def end(file, job, steady, half_width_s, mean_bps=None):
    """Attributes at the end of a simulation of two rounds, and the mean capacities."""
    group, writer, links = writer_of(file, job, mean_bps=mean_bps)
    writer.add(block(0, 2, links=links))
    writer.finish(steady, half_width_s)
    return dict(group.attrs), group["link_capacity_bps"][...]


def test_an_exact_cycle_time_has_its_period_and_no_interval(file_in_memory, job):
    steady = SteadyState(cycle_time_s=0.25, is_exact=True, period_rounds=2, period_s=0.5, transient_rounds=0)
    attrs, mean_bps = end(
        file_in_memory, job, steady, None, lambda until_s: np.full(len(job.link_capacity_bps), until_s)
    )
    assert attrs["cycle_time_s"] == 0.25
    assert attrs["cycle_time_is_exact"]
    assert attrs["half_width_s"] == 0.0
    assert (attrs["period_s"], attrs["period_rounds"], attrs["transient_rounds"]) == (0.5, 2, 0)
    assert (attrs["rounds"], attrs["end_s"]) == (2, 2.0)
    # Capacities are means until the end of the second round.
    assert (mean_bps == 2.0).all()


@pytest.mark.parametrize("half_width_s", [None, 0.125])
def test_an_estimate_has_its_interval_and_no_period(file_in_memory, job, half_width_s):
    attrs, mean_bps = end(file_in_memory, job, SteadyState(cycle_time_s=0.25, is_exact=False), half_width_s)
    assert not attrs["cycle_time_is_exact"]
    assert np.isnan(attrs["half_width_s"]) if half_width_s is None else attrs["half_width_s"] == half_width_s
    assert np.isnan(attrs["period_s"])
    assert (attrs["period_rounds"], attrs["transient_rounds"]) == (-1, -1)
    assert np.isnan(mean_bps).all()


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (5, 3), (4, 0), (6, 2), (3, 2, 2), (2, 7)])
def test_a_data_set_is_filled_to_its_end_in_pieces(file_in_memory, monkeypatch, shape):
    monkeypatch.setattr(simulated_rounds, "_PIECE", 6)
    make_dataset(file_in_memory, "x", shape, np.float64, 7.5)
    assert file_in_memory["x"].shape == shape
    assert (file_in_memory["x"][...] == 7.5).all()
    assert file_in_memory["x"].id.get_storage_size() == 8 * np.prod(shape)
