"""Runs a job on SimGrid: the same silos, arcs and routes on actors and a max-min solver of other hands."""

import shutil
import subprocess
import tempfile
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


def round_starts(program, job):
    """t_i(k) of every silo, shape (rounds + 1, silos)."""
    lines = _run(program, job, "dump", MODEL | FINE).splitlines()
    return np.array([line.split() for line in lines], dtype=float)


def wall_s(program, job):
    """Seconds that SimGrid simulates for, without starting up and reading the job."""
    return float(_run(program, job, "speed", MODEL))


def _run(program, job, what, options):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(_text(job))
        file.flush()
        command = [str(program), file.name, what, "--log=root.thres:error"]
        command += [f"--cfg={name}:{value}" for name, value in options.items()]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _text(job):
    table_s = job.compute.rows(0, 1 if job.compute.period == 1 else job.rounds)
    routes, capacity_bps = job.routes, job.link_capacity_bps
    if job.sharing.constant_rates:
        # An arc of a constant rate that queues is alone on a link of this capacity.
        routes, capacity_bps = [(arc,) for arc in range(len(job.arcs))], [arc.rate_bps for arc in job.arcs]
    sizes = (job.silos, len(capacity_bps), len(job.arcs), job.rounds, int(not job.fifo), len(table_s))
    lines = [" ".join(map(str, sizes))]
    lines += [" ".join(map(repr, row)) for row in table_s.tolist()]
    lines += [repr(float(bps)) for bps in capacity_bps]
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
