"""What silosim reads, each as a file's format and the function that takes the file."""

import dataclasses
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

import formats
import numpy as np
from values import LABELS, Draw

from scenarios.config.compute_times import compute_times
from scenarios.config.network import build_network
from scenarios.config.scenario import parse_scenario
from scenarios.config.simulation import ComputeConfig
from scenarios.config.study import parse_study
from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.readers import read_rows
from topologies import AccessLinks, Connectivity, Underlay, Workload, connectivity, load_underlay
from topologies.analysis.link_prices import read_prices
from topologies.networks.network_files import NetworkFiles
from topologies.networks.route_table import with_routes
from topologies.networks.traffic_files import read_traffic
from topologies.overlay_files import read_matrix, read_overlay
from topologies.periodic.schedule_file import read_schedule
from training.data.datasets import DataOptions, load_dataset


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """A reader and the files that it is given.

    Attributes
    ----------
    file : str
        Name of the file; its ending chooses the reader.
    make : callable
        From random choices to the bytes of a file.
    read : callable
        Takes the path.
    """

    file: str
    make: Callable[[Draw], bytes]
    read: Callable[[Path], object]


@cache
def line() -> Underlay:
    """A network of the silos of `LABELS` in a line."""
    count = len(LABELS)
    return Underlay(
        name="line",
        variant="corrected",
        labels=LABELS,
        latitude_deg=np.arange(count) + 40.0,
        longitude_deg=np.arange(count) + 5.0,
        ends=np.array([(i, i + 1) for i in range(count - 1)]),
        length_km=np.full(count - 1, 100.0),
        capacity_bps=np.full(count - 1, 1e9),
    ).in_label_order()


@cache
def graph() -> Connectivity:
    """Its connectivity."""
    return connectivity(line(), access=AccessLinks(up_bps=1e9, down_bps=1e9))


def _scenario(path: Path) -> None:
    text = path.read_bytes().decode()
    scenario = parse_scenario(text, source="s.toml")
    build_network(scenario.network)
    scenario.simulation.simulator_events(seed=0)


def _study(path: Path) -> None:
    study = parse_study(path.read_bytes().decode(), source="s.toml", folder=path.parent)
    for changes in islice(study.config.changes(), 3):
        study.scenario(changes)


def _metrics(path: Path) -> None:
    names = ColumnNames(round=None, unit=None, metrics={}, silo_loss=None)
    read_history(read_rows(path), names, LABELS, source=str(path), local_steps=1, percent=False)


def _tables(given: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        other = {"sites": "links", "links": "sites"}[given]
        draw = Draw(1)
        draw.odd = 0.0
        beside = path.with_name(f"whole_{other}.csv")
        if not beside.exists():
            if other == "sites":
                beside.write_text(
                    "name,latitude,longitude\n"
                    + "".join(f"{n},{40 + i},{5 + i}\n" for i, n in enumerate(LABELS))
                )
            else:
                beside.write_text(
                    "from,to,capacity\n" + "".join(f"{LABELS[i]},{LABELS[i + 1]},1 Gbps\n" for i in range(4))
                )
        return load_underlay(NetworkFiles(**{given: path, other: beside}))

    return read


def _named_tables(path: Path) -> object:
    for name, make in (("sites", formats.sites), ("links", formats.links)):
        draw = Draw(5)
        draw.odd = 0.0
        path.with_name(f"{name}.csv").write_bytes(make(draw))
    return load_underlay(path)


def _trace(path: Path) -> object:
    work = Workload(model_bits=1e6, compute_s=0.01)
    config = ComputeConfig(trace=str(path))
    return compute_times(config, graph(), work, seed=0, rounds=2)


def _weights(path: Path) -> object:
    return read_matrix(path, LABELS)


READERS = {
    "scenario": Reader(file="s.toml", make=formats.scenario, read=_scenario),
    "study": Reader(file="s.toml", make=formats.study, read=_study),
    "gml": Reader(file="n.gml", make=formats.gml, read=load_underlay),
    "graphml": Reader(file="n.graphml", make=formats.graphml, read=load_underlay),
    "node_link": Reader(file="n.json", make=formats.node_link, read=load_underlay),
    "pairs": Reader(file="pairs.csv", make=formats.pairs, read=load_underlay),
    "sites": Reader(file="sites.csv", make=formats.sites, read=_tables("sites")),
    "links": Reader(file="links.csv", make=formats.links, read=_tables("links")),
    "network_toml": Reader(file="n.toml", make=formats.network_toml, read=_named_tables),
    "routes": Reader(file="r.csv", make=formats.routes, read=lambda path: with_routes(line(), path)),
    "traffic": Reader(file="t.csv", make=formats.traffic, read=read_traffic),
    "sndlib": Reader(file="t.xml", make=formats.sndlib, read=read_traffic),
    "arcs": Reader(file="a.csv", make=formats.arcs, read=lambda path: read_overlay(path, LABELS)),
    "arcs_gml": Reader(file="a.gml", make=formats.gml, read=lambda path: read_overlay(path, LABELS)),
    "weights": Reader(file="w.csv", make=formats.matrix, read=_weights),
    "weights_npy": Reader(file="w.npy", make=formats.numpy_matrix, read=_weights),
    "schedule": Reader(file="p.csv", make=formats.schedule, read=lambda path: read_schedule(path, LABELS)),
    "prices": Reader(file="c.csv", make=formats.prices, read=lambda path: read_prices(path, graph())),
    "trace": Reader(file="times.csv", make=formats.trace, read=_trace),
    "metrics_csv": Reader(file="m.csv", make=formats.metrics_table, read=_metrics),
    "metrics_json": Reader(file="m.json", make=formats.metrics_json, read=_metrics),
    "tensorboard": Reader(file="events.out.tfevents.1", make=formats.tensorboard, read=_metrics),
    "csv_data": Reader(
        file="d.csv",
        make=formats.data_table,
        read=lambda path: load_dataset("csv_file", DataOptions(data=str(path), declared={"label": "label"})),
    ),
    "npz_data": Reader(
        file="d.npz",
        make=formats.data_arrays,
        read=lambda path: load_dataset("npz_file", DataOptions(data=str(path))),
    ),
}
"""By name; that of a past finding in the corpus begins with it."""
