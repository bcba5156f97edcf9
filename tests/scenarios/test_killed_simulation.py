"""What the file of a simulation says is there, whichever write a kill cuts off, and at which page."""

import io
from itertools import pairwise

import h5py
import numpy as np
import pytest

from scenarios.runfile import simulated_rounds as simulated
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate
from scenarios.simulation.runner import run_job
from simulator import overlay_job
from topologies import AccessLinks, Workload, connectivity, design, load_underlay

ROUNDS, PAGE = 600, 4096


class Recording(io.BytesIO):
    """A file in memory that keeps every write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[int, bytes]] = []

    def write(self, data) -> int:
        self.writes.append((self.tell(), bytes(data)))
        return super().write(data)


def pages(position, data):
    """The parts of a write that a kill may leave out, from the last one on: the system copies page by page."""
    first = PAGE - position % PAGE
    cuts = [0, *range(first, len(data), PAGE), len(data)]
    return [(position + begin, data[begin:end]) for begin, end in pairwise(cuts) if begin < end]


@pytest.fixture(scope="module")
def images():
    """The file after every page of every write of a simulation, from its layout on, and the finished one."""
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    job = overlay_job(design("mst", graph, Workload(model_bits=1e6, compute_s=0.01)), ROUNDS)
    recording = Recording()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "_FLUSH_S", 0.0)
        with h5py.File(recording, "w") as file:
            allocate(file, "mst", job, messages=False)
            file.flush()
            begin = len(recording.writes)
            run_job(job, "mst", title=None, writer=SimulationWriter(file, "mst"))

    def replay():
        image = io.BytesIO()
        for position, data in recording.writes[:begin]:
            image.seek(position)
            image.write(data)
        yield image.getvalue()
        for write in recording.writes[begin:]:
            for position, data in pages(*write):
                image.seek(position)
                image.write(data)
                yield image.getvalue()

    return list(replay()), recording.getvalue()


def test_rounds_that_are_said_to_be_there_are_those_of_the_finished_run(images):
    cut, whole = images
    with h5py.File(io.BytesIO(whole)) as file:
        finished = {
            name: file[f"simulation/mst/{name}"][:] for name in ("round_start_s", "arrival_s", "link_bits")
        }
        ends_s = finished["round_start_s"].max(axis=1)
    seen, unstated = set(), 0
    for image in cut:
        with h5py.File(io.BytesIO(image)) as file:
            group = file["simulation/mst"]
            rounds, end_s = int(group.attrs["rounds"]), group.attrs["end_s"]
            for name in ("round_start_s", "arrival_s"):
                assert np.array_equal(group[name][:rounds], finished[name][:rounds])
            # NaN while the bits are written: of which rounds they are is then not said.
            if np.isnan(end_s):
                unstated += rounds > 0
            else:
                assert end_s == ends_s[rounds]
                assert group["link_bits"][:] == pytest.approx(
                    finished["link_bits"] * rounds / ROUNDS, rel=1e-12
                )
            seen.add(rounds)
    assert seen == {0, 256, 512, ROUNDS}
    assert unstated < len(cut) / 10
