"""Runs a job on SimGrid: the same silos, arcs and routes on actors and a max-min solver of other hands.

By default link latencies are 0, and messages share links max-min fairly. With `Weights` the links have latencies, and
SimGrid's models CM02 and, without its factors, LV08 weigh the messages. With `Rules` links are half-duplex or fat
pipes, and messages have acknowledgements.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("simgrid_fluid.cpp")

# Bandwidths and latencies as given, no TCP window, no traffic of acknowledgements.
MODEL = {
    "network/model": "CM02",
    "network/crosstraffic": "0",
    "network/TCP-gamma": "0",
    "network/bandwidth-factor": "1",
    "network/latency-factor": "1",
    "network/weight-S": "0",
}

# SimGrid takes events closer than this for one, in seconds. Its own 1e-9 would show in dates of milliseconds;
# below the float spacing of the dates (2e-12 at 10,000 s) it would tear apart what happens at once, and stall.
FINE = {"surf/precision": "1e-11"}


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weights of messages, ``1 / sum over the links of the route (latency + reference_bits / capacity)``.

    SimGrid lets a message wait for the latency of its route before it takes any link; ours takes the links at once and
    is late afterwards. Both are one for messages that are sent after computing where it is handed to SimGrid so much
    earlier (`scale` 1, computing times at least as long as latencies, no queues). For all other jobs latencies and
    `reference_bits` are scaled down, which leaves the ratios of weights, until waiting makes little of a date. SimGrid
    3.32 crashes where latencies come near its precision, at a `scale` of 1e-9.

    No message is faster than ``gamma_bits / (2 * sum over the links of the route latency)``, SimGrid's TCP-gamma: a
    window per round-trip time. What arcs have beside their routes, which are windows, is left out.
    """

    link_latency_s: np.ndarray
    reference_bits: float
    scale: float = 1.0
    gamma_bits: float = np.inf

    @property
    def options(self):
        """Of SimGrid: its window, without one a huge one, and rates that are all found anew at each event.

        By default it finds only some rates anew. Where messages wait for latencies, dates of SimGrid 3.32 then differ
        by up to 11 % from its own without this short cut.
        """
        return {
            "network/weight-S": repr(self.reference_bits * self.scale),
            "network/TCP-gamma": repr(min(self.gamma_bits * self.scale, 1e40)),
            "network/optim": "Full",
            "network/maxmin-selective-update": "no",
        }


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What SimGrid knows of links in place of what arcs have beside their routes, which is left out.

    `same` gives link directions that are no links of their own, but another one: both directions of a half-duplex link
    are one link of SimGrid. `fat_pipe_bps` gives capacities of those whose policy is `FATPIPE`. With `acks` SimGrid's
    cross-traffic puts 5 % of each message on the route of the arc back, which there must be.
    """

    same: Mapping[int, int] = field(default_factory=dict)
    fat_pipe_bps: Mapping[int, float] = field(default_factory=dict)
    acks: bool = False

    @property
    def options(self):
        """Of SimGrid."""
        return {"network/crosstraffic": str(int(self.acks))}


NO_RULES = Rules()


class NoSimGridError(Exception):
    """SimGrid cannot be built here; the text says why."""


def build(folder):
    """Compile the peer into a folder; gives the program."""
    if shutil.which("g++") is None:
        raise NoSimGridError("g++ is not installed.")
    program = Path(folder) / "simgrid_fluid"
    command = ["g++", "-O2", "-std=c++17", str(SOURCE), "-o", str(program), "-lsimgrid"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return program
    if "No such file" in done.stderr or "-lsimgrid" in done.stderr:
        raise NoSimGridError(
            "SimGrid is not installed (Debian: apt-get install libsimgrid-dev libboost-dev)."
        )
    raise RuntimeError(done.stderr)


def round_starts(program, job, weights=None, rules=NO_RULES):
    """t_i(k) of every silo, shape (rounds + 1, silos)."""
    options = MODEL | FINE | rules.options | ({} if weights is None else weights.options)
    lines = _run(program, job, "dump", options, weights, rules).splitlines()
    return np.array([line.split() for line in lines], dtype=float)


def wall_s(program, job):
    """Seconds that SimGrid simulates for, without starting up and reading the job."""
    return float(_run(program, job, "speed", MODEL))


def _run(program, job, what, options, weights=None, rules=NO_RULES):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(_text(job, weights, rules))
        file.flush()
        command = [str(program), file.name, what, "--log=root.thres:error"]
        command += [f"--cfg={name}:{value}" for name, value in options.items()]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _text(job, weights, rules):
    table_s = job.compute.rows(0, 1 if job.compute.period == 1 else job.rounds)
    routes, capacity_bps = job.routes, job.link_capacity_bps
    if job.sharing.constant_rates:
        # An arc of a constant rate that queues is alone on a link of this capacity.
        routes, capacity_bps = [(arc,) for arc in range(len(job.arcs))], [arc.rate_bps for arc in job.arcs]
    latency_s = [0.0] * len(capacity_bps)
    if weights is not None or rules is not NO_RULES:
        routes = [arc.links[: arc.route_length] for arc in job.arcs]
        routes = [[rules.same.get(link, link) for link in route] for route in routes]
    fat_pipe_bps = rules.fat_pipe_bps
    capacity_bps = [fat_pipe_bps.get(link, bps) for link, bps in enumerate(capacity_bps)]
    if weights is not None:
        latency_s[: len(weights.link_latency_s)] = (weights.link_latency_s * weights.scale).tolist()
    sizes = (job.silos, len(capacity_bps), len(job.arcs), job.rounds, int(not job.fifo), len(table_s))
    lines = [" ".join(map(str, sizes))]
    lines += [" ".join(map(repr, row)) for row in table_s.tolist()]
    lines += [
        f"{float(bps)!r} {late_s!r} {int(link in fat_pipe_bps)}"
        for link, (bps, late_s) in enumerate(zip(capacity_bps, latency_s, strict=True))
    ]
    lines += [
        f"{arc.source} {arc.target} {arc.tokens} {float(arc.latency_s)!r} {int(bits)} {len(route)} "
        + " ".join(map(str, route))
        for arc, bits, route in zip(job.arcs, job.message_bits, routes, strict=True)
    ]
    return "\n".join([*lines, *_messages(job)]) + "\n"


def _messages(job):
    if job.plan is None:
        return ["-1"]
    found = [
        (int(arc), round_ + 1 - int(lag), round_)
        for round_ in range(job.rounds)
        for arc, lag in zip(job.plan.active(round_), job.plan.lags(round_), strict=True)
    ]
    return [str(len(found)), *(" ".join(map(str, message)) for message in found)]
