"""Long texts where a file has numbers, units and names: read or refused in a time that is linear in their length."""

from contextlib import suppress
from functools import cache

import pytest

from scenarios.config.access_links import up_down
from scenarios.config.compute_times import compute_times
from scenarios.config.link_rules import with_rules_of
from scenarios.config.simulation import ComputeConfig
from scenarios.metrics_import.clients import end_number
from scenarios.metrics_import.csv_rows import table_rows
from topologies import AccessLinks, InputError, Workload, connectivity, load_underlay
from topologies.networks.csv_table import parse_number, split_quantity
from topologies.networks.field_names import finite_number
from topologies.networks.route_table import with_routes
from topologies.networks.sndlib_demands import parse_sndlib_demands
from topologies.networks.table_columns import column_name, in_brackets
from topologies.quantities import parse_quantity, parse_share

LONG = 100_000
"""Characters; Python's own reader of CSV takes cells up to 131,072."""


@cache
def gaia():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


def shared(name):
    with_rules_of(gaia(), half_duplex=(), shared_access={name: "1 Gbps"}, fat_pipes=(), acks=None)


def routes(cell, folder):
    path = folder / "r.csv"
    path.write_text(f"source,target,path\nVirginia,Ohio,{cell}\n")
    with_routes(gaia().underlay, path)


def metrics(head, folder):
    path = folder / "m.csv"
    path.write_text(f"{head}\n1\n")
    next(table_rows(path))


def trace(head, folder):
    path = folder / "t.csv"
    path.write_text(f"{head}\n1\n")
    work = Workload(model_bits=1e6, compute_s=0.1)
    compute_times(ComputeConfig(trace=str(path)), gaia(), work, seed=1, rounds=10)


@pytest.mark.parametrize(
    "read",
    [
        lambda _: parse_number("1" * LONG + "x", decimal_comma=False),
        lambda _: split_quantity("1" + " " * LONG + ","),
        lambda _: split_quantity("." + "1" * LONG + ","),
        lambda _: parse_quantity("access", "1" * LONG + "!", "bit/s"),
        lambda _: parse_share("background", "1" * LONG + "!"),
        lambda _: finite_number("capacity", "1" * LONG + "x"),
        lambda _: column_name("[" + " " * LONG),
        lambda _: column_name("a" + " " * LONG + "b"),
        lambda _: column_name("[a" * (LONG // 2)),
        lambda _: parse_sndlib_demands(b"DEMANDS (\n a " + b"( (" * (LONG // 3) + b" a ) 1 2 3\n)\n"),
        lambda _: parse_sndlib_demands(b"DEMANDS (\n" + b"(" * LONG + b"\n)\n"),
        lambda _: up_down(("access_at", "a"), " " * LONG + "x"),
        lambda _: shared("a" + " " * LONG + "b"),
        lambda _: shared("a + " * (LONG // 4) + "b"),
        lambda folder: routes("a" + " " * LONG + "b", folder),
        lambda folder: metrics("round" + ",a" * LONG, folder),
        lambda folder: metrics("a" * 10 * LONG, folder),
        lambda folder: trace("Virginia," * 10 * LONG, folder),
        lambda _: end_number("_" * LONG),
        lambda _: end_number("a" + "-" * LONG + "b"),
    ],
)
def test_a_long_text_is_read_once(read, tmp_path, processor_time_below):
    gaia()  # imports and compiles
    with processor_time_below(1.5), suppress(InputError):
        read(tmp_path)


@pytest.mark.parametrize(
    ("client", "number"),
    [
        ("silo-3", 3),
        ("silo_03", 3),
        ("7", 7),
        ("_3", 3),
        ("a_-12", 12),
        ("1-3", None),
        ("-3", None),
        ("a", None),
        ("", None),
        ("silo1234567890", None),
    ],
)
def test_the_number_at_the_end_of_a_name(client, number):
    assert end_number(client) == number


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("Bandwidth [Mbit/s]", ("Bandwidth", "Mbit/s")),
        (" up (peak) ( Mbps )  ", ("up (peak)", "Mbps")),
        ("up [Mbps)", ("up", "Mbps")),
        ("[s]", ("", "s")),
        ("up ()", ("up", "")),
        ("up (a)b)", None),
        ("up (a) b", None),
        ("up)", None),
        ("", None),
    ],
)
def test_the_brackets_at_the_end_of_a_header(header, parts):
    assert in_brackets(header) == parts
