"""Limits, sizes and rules that pages state in numbers are those of the code."""

import re

import pytest
from document_blocks import ROOT

from topologies.capacities import UNSTATED_CORE_BPS
from topologies.designers import enrich, random_ring
from topologies.latency_rule import S_PER_KM, S_PER_PATH
from topologies.networks.link_notes import NO_CABLE
from topologies.quantities import with_prefix
from topologies.sizes import MANY_SILOS, MOST_STATES
from topologies.slow_start import INITIAL_BITS, LEAST_RTO_S
from training.checkpoints.checkpoint import RETAINED
from training.compression import BUCKET
from training.data.samples import HELD_BYTES
from training.dpasgd import DIVERGENCE_CHECK_ROUNDS
from training.engine.communicator import MESSAGE
from training.engine.executors.choice import GAIN, LARGEST_VECTORIZED, WORTH_S
from training.engine.metrics import LARGEST_CHUNK
from training.memory.memory_budget import PLENTY
from training.mpi.host_watch import END_S, MEETING_S
from training.mpi.rank_watch import LOOK_S

WORDS = {"two": 2, "twice": 2, "five": 5, "ten": 10}


def text_of(page):
    """A page in one line."""
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("page", "sentence", "number"),
    [
        ("clusters", r"what is left on a host (\w+) seconds later is killed", END_S),
        ("clusters", r"which a line says at the start after (\w+) seconds", MEETING_S),
        ("clusters", r"from what the others send it (\w+) a second", 1 / LOOK_S),
        ("clusters", r"a local step of the rank's silos, (\w+) evaluated samples", LARGEST_CHUNK),
        ("clusters", r"the exchange overlaps mixing by pieces of ([\d,]+) numbers", MESSAGE),
        ("clusters", r"A loss that is not finite ends the run within (\w+) rounds", DIVERGENCE_CHECK_ROUNDS),
        ("clusters", r"one file per rank, the last (\w+) of each overlay", RETAINED),
        ("trainings", r"leaves `loop` only for a gain of ([\d.]+) or more", GAIN),
        ("trainings", r"`loop` if all local steps take less than (\w+) s with it", WORTH_S),
        ("trainings", r"for models of more than ([\d,]+) parameters", LARGEST_VECTORIZED),
        ("trainings", r"all for tests, take at most (\w+) MiB decoded", HELD_BYTES / 2**20),
        ("trainings", r"Where more than (\w+) the need is available, the plan is one line", PLENTY),
        ("trainings", r"per chunk of at most (\w+) samples", LARGEST_CHUNK),
        ("trainings", r"signs, and the mean size of each (\w+) numbers", BUCKET),
    ],
)
def test_a_stated_number_is_that_of_the_code(page, sentence, number):
    (stated,) = re.findall(sentence, text_of(f"howto/{page}.md"))
    assert float(WORDS.get(stated, stated.replace(",", ""))) == number


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("reference/limits.md", f"designs for more than {MANY_SILOS} silos"),
        ("reference/dependencies.md", f"designs of studies and on more than {MANY_SILOS} silos"),
        ("howto/overlays.md", f"above {MANY_SILOS} silos: than any but `christofides`"),
        ("howto/overlays.md", f"a quick one (up to {MANY_SILOS} silos)"),
        ("howto/networks.md", f"by integer programming up to {MANY_SILOS} silos"),
        ("howto/overlays.md", f"States are numbered from 0, at most {MOST_STATES:,};"),
        ("howto/overlays.md", f"uniform up to {random_ring.MOST_COUNTED} silos and wherever "),
        ("howto/overlays.md", f"wherever {random_ring.TRIES:,} random orders hold a ring"),
        ("howto/python.md", f"a larger spectral gap (at most {enrich.MOST_SILOS} silos)"),
        ("howto/networks.md", f"between their ends (by more than {1 - NO_CABLE:.0%})".replace("%", " %")),
        ("howto/networks.md", f"at {1e3 * S_PER_KM:g} ms/km. The {1e3 * S_PER_PATH:g} ms of each path"),
        (
            "explanation/model.md",
            f"{1e3 * S_PER_KM:g} ms per km and {1e3 * S_PER_PATH:g} ms, once on the whole path",
        ),
        ("reference/scenario.md", f"as stated, {with_prefix(UNSTATED_CORE_BPS, 'bps')} elsewhere"),
        (
            "explanation/links.md",
            f"initial window of `w` = {INITIAL_BITS / 1448 / 8:g} segments of 1,448 bytes",
        ),
        ("explanation/links.md", f"each after an idle time above `R` + {1e3 * LEAST_RTO_S:g} ms"),
    ],
)
def test_numbers_are_those_that_the_pages_state(page, said):
    assert said in text_of(page)
