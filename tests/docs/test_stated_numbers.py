"""Limits and sizes that the pages on trainings state are those of the code."""

import re

import pytest
from document_blocks import ROOT

from training.checkpoints.checkpoint import RETAINED
from training.compression import BUCKET
from training.dpasgd import DIVERGENCE_CHECK_ROUNDS
from training.engine.communicator import MESSAGE
from training.engine.executors.choice import GAIN
from training.engine.metrics import LARGEST_CHUNK
from training.memory.memory_budget import PLENTY
from training.mpi.host_watch import END_S, MEETING_S
from training.mpi.rank_watch import LOOK_S

WORDS = {"two": 2, "twice": 2, "five": 5, "ten": 10}


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
        ("trainings", r"Where more than (\w+) the need is available, the plan is one line", PLENTY),
        ("trainings", r"per chunk of at most (\w+) samples", LARGEST_CHUNK),
        ("trainings", r"signs, and the mean size of each (\w+) numbers", BUCKET),
    ],
)
def test_a_stated_number_is_that_of_the_code(page, sentence, number):
    text = " ".join((ROOT / "docs" / "howto" / f"{page}.md").read_text(encoding="utf-8").split())
    (stated,) = re.findall(sentence, text)
    assert float(WORDS.get(stated, stated.replace(",", ""))) == number
