"""The HDF5 file of a run: its head, network and overlays."""

import hashlib
import json
from dataclasses import asdict
from importlib.metadata import version

import h5py
import numpy as np

from scenarios.config.network import NetworkConfig, describe
from scenarios.runfile.atomic import reports_full_disk
from simulator import Job
from topologies import ClosedForms, Connectivity, Overlay, RandomOverlay, Workload

SCHEMA = "silosim-run/1"


@reports_full_disk
def write_head(
    file: h5py.File, *, scenario: str, network: NetworkConfig, seed: int, graph: Connectivity, work: Workload
) -> None:
    """Write the root attributes and the groups that describe network and workload."""
    underlay = graph.underlay
    digest = hashlib.sha256()
    for array in (
        underlay.ends,
        underlay.length_km,
        graph.core_bps,
        graph.up_bps,
        graph.down_bps,
        graph.latency_s,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(graph.available_bps.tobytes())
    digest.update("\0".join(graph.labels).encode())
    file.attrs.update(
        schema=SCHEMA,
        silosim_version=version("silosim"),
        scenario=scenario,
        network=json.dumps(asdict(network)),
        about=describe(graph, work),
        seed=seed,
        graph_sha256=digest.hexdigest(),
        units="seconds, bits, bits per second, kilometres, degrees: see the suffix of each name",
    )
    group = file.create_group("underlay")
    group.attrs.update(name=underlay.name, variant=underlay.variant)
    group["labels"] = np.array(underlay.labels, dtype=h5py.string_dtype())
    for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps"):
        group[name] = getattr(underlay, name)
    if underlay.published_index is not None:
        group["published_index"] = underlay.published_index
    group = file.create_group("connectivity")
    for name in ("router", "up_bps", "down_bps", "core_bps", "latency_s", "available_bps"):
        group[name] = getattr(graph, name)
    group.attrs.update(bandwidth=graph.bandwidth, latency=graph.latency)
    group = file.create_group("workload")
    group.attrs.update(
        name=work.name, model_bits=work.model_bits, compute_s=work.compute_s, local_steps=work.local_steps
    )
    file.flush()


@reports_full_disk
def write_overlay(file: h5py.File, overlay: Overlay | RandomOverlay, job: Job, forms: ClosedForms) -> None:
    """Write one overlay.

    Parameters
    ----------
    file : h5py.File
    overlay : Overlay or RandomOverlay
        Of a randomized one there are no delays, consensus matrix and critical circuit.
    job : Job
        Its simulation; the arcs are numbered as there.
    forms : ClosedForms
        See `scenarios.config.overlays.forms_of`.
    """
    order = len(file.get("overlays", ()))
    group = file.create_group(f"overlays/{overlay.kind}")
    arcs = np.array([(arc.source, arc.target, arc.tokens) for arc in job.arcs], dtype=np.int64).reshape(-1, 3)
    group["arcs"] = arcs
    group["arcs"].attrs["columns"] = "source silo, target silo, tokens"
    hub = None
    if isinstance(overlay, Overlay):
        group["delay_s"] = overlay.delay_s
        group["consensus"] = overlay.consensus
        group["consensus"].attrs["negative_weights"] = overlay.negative_weights
        group["critical_circuit"] = np.array(overlay.critical_circuit, dtype=np.int64)
        hub = overlay.hub
    group.attrs.update(
        paper_s=forms.paper_s,
        serialized_s=forms.serialized_s,
        load_bound_s=forms.load_bound_s,
        busiest_link="" if forms.busiest_link is None else overlay.graph.link_name(forms.busiest_link),
        order=order,
        max_degree=int(max(np.bincount(ends, minlength=1).max() for ends in arcs.T[:2])),
        hub=-1 if hub is None else hub,
        drawn=not isinstance(overlay, Overlay),
    )
    file.flush()
