"""What backends say that they can do: trainings that they cannot are refused, and sizes of messages are checked."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from topologies import InputError
from training import MixingPlan, TrainingConfig
from training.backend import check_mixing, compressed_share, message_bits

HALF = np.full((2, 2), 0.5)
LAGS = {"mixing": MixingPlan(matrices=HALF[None], index=np.zeros(4, int), lags=np.array([[[1, 2], [2, 1]]]))}
PAUSES = {
    "mixing": MixingPlan(matrices=np.array([HALF, HALF]), index=np.array([0, 1, 0]), computes=[True, False])
}
NEEDS = {
    "mixes_lags": (LAGS, "must mix models of earlier rounds: there are lags of up to 2."),
    "mixes_without_steps": (PAUSES, "must mix without local steps: "),
    "steps_by_silo": ({"local_steps": np.array([1, 2])}, "must make local steps by silo: "),
    "compresses": ({"compression": "sign"}, "must send compressed models: compression is sign."),
}


@pytest.fixture
def backend(monkeypatch):
    """Make a backend with some attributes the one of every name."""

    def install(**abilities):
        made = SimpleNamespace(check=print, train=print, **abilities)
        monkeypatch.setattr("training.backend.load_backend", lambda _name, _options: made)

    return install


@pytest.mark.parametrize("needed", NEEDS)
def test_a_backend_must_say_that_it_can(backend, make_job, needed):
    settings, rule = NEEDS[needed]
    job = make_job(silos=2, **{"matrix": HALF} | settings)
    others = dict.fromkeys(NEEDS, True)
    backend(**others)
    check_mixing(job)
    del others[needed]
    # Another truth value could be a method that nobody called.
    for abilities in (others, others | {needed: False}, others | {needed: 1}):
        backend(**abilities)
        with pytest.raises(InputError) as caught:
            check_mixing(job)
        assert str(caught.value).startswith(f"backend(='mpi') {rule}")


@pytest.mark.parametrize("needed", NEEDS)
def test_the_backend_of_silosim_can_do_all(needed, make_job):
    check_mixing(make_job(silos=2, **{"matrix": HALF} | NEEDS[needed][0]))


def test_a_plain_training_needs_no_abilities(monkeypatch, make_job):
    monkeypatch.setattr("training.backend.load_backend", None)
    check_mixing(make_job(silos=2))


@pytest.mark.parametrize("said", [1, 0.5, 5e-324, sys.float_info.max, np.float32(3), None])
def test_sizes_of_messages(backend, said):
    backend(message_bits=lambda _config: said)
    assert message_bits(TrainingConfig()) == said


@pytest.mark.parametrize("said", [0, -1, math.inf, math.nan, True, "9", 1j, 10**400])
def test_numbers_that_are_no_size(backend, said):
    backend(message_bits=lambda _config: said)
    with pytest.raises(
        InputError, match=r"^backend\(='mpi'\): message_bits\(=.*\) must be a finite number of bits"
    ):
        message_bits(TrainingConfig())


def test_the_share_that_compressed_messages_are(backend):
    config = TrainingConfig(compression="sign")
    backend(compresses=True, message_bits=lambda asked: 8.0 if asked.compression == "none" else 2.0)
    assert (compressed_share(config), compressed_share(config, 4.0), compressed_share(TrainingConfig())) == (
        0.25,
        0.5,
        1,
    )
    for unknown in ("none", "sign"):
        backend(
            compresses=True,
            message_bits=lambda asked, unknown=unknown: None if asked.compression == unknown else 8.0,
        )
        with pytest.raises(InputError, match="must say how large messages are: they are compressed"):
            compressed_share(config)
