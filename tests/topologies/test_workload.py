"""What a workload takes as local steps."""

import numpy as np
import pytest

from topologies import InputError, Workload
from topologies.participation import Participation
from topologies.workload import workload_presets


@pytest.mark.parametrize("steps", [0, -1, 1.5, [1, 0], [[1, 2]], [], "1"])
def test_local_steps_are_whole_numbers_from_1_on_one_or_one_for_each_silo(steps):
    with pytest.raises(
        InputError, match=r"^local_steps\(=.*\) must be a whole number >= 1, or one for each silo\.$"
    ):
        Workload(model_bits=1.0, compute_s=0.1, local_steps=steps)


@pytest.mark.parametrize(("steps", "compute_s"), [(1, [0.1, 0.1]), (3, [0.3, 0.3]), ([1, 2], [0.1, 0.2])])
def test_a_round_computes_as_many_steps(steps, compute_s):
    work = Workload(model_bits=1.0, compute_s=0.1, local_steps=steps)

    assert work.round_compute_s(2) == pytest.approx(np.array(compute_s), rel=1e-15)


@pytest.mark.parametrize(
    ("name", "parameters", "published_bits", "compute_s"),
    [
        # Table 2: parameters in thousands, megabytes of the model and milliseconds of a local step. The bytes are
        # read as bits; those of the ResNets are exact, or fit the published STARs.
        ("shakespeare", 840_000, 3.23 * 2**20, 0.3896),
        ("femnist", 1_207_000, 4.62 * 2**20, 0.0046),
        ("sentiment140", 4_810_000, 18.38 * 2**20, 0.0098),
        ("inaturalist", 11_217_552, 44_961_717, 0.0254),
        ("full_inaturalist", 40_190_990, 161.066e6, 0.9467),
    ],
)
def test_presets_are_the_tasks_of_the_paper(name, parameters, published_bits, compute_s):
    corrected, published = Workload.preset(name), Workload.preset(name, variant="published", local_steps=3)

    assert (corrected.model_bits, corrected.compute_s, corrected.local_steps) == (
        32 * parameters,
        compute_s,
        1,
    )
    assert (published.model_bits, published.compute_s, published.local_steps) == (
        published_bits,
        compute_s,
        3,
    )
    assert corrected.name == published.name == name
    assert name in workload_presets()
    assert len(workload_presets()) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap": 1.0}, r"^overlap\(=1\.0\) must be at least 0 and below 1\.$"),
        ({"overlap": -0.1}, r"^overlap\(=-0\.1\) must be at least 0 and below 1\.$"),
        (
            {"overlap": 0.5, "local_steps": [1, 2]},
            r"^overlap\(=0\.5\) needs the same local_steps in all silos\.$",
        ),
        ({"message_share": 0.0}, r"^message_share\(=0\.0\) must be > 0 and <= 1\.$"),
        ({"message_share": 1.5}, r"^message_share\(=1\.5\) must be > 0 and <= 1\.$"),
    ],
)
def test_wrong_shares_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Workload(model_bits=1.0, compute_s=0.1, **options)


def test_shares_at_their_ends_are_taken():
    work = Workload(model_bits=0.0, compute_s=[0.1, 0.0], overlap=0.0, message_share=1.0)
    assert (work.overlap, work.message_share, work.local_steps) == (0.0, 1.0, 1)
    assert Workload(model_bits=1.0, compute_s=0.1, overlap=0.5, local_steps=[3, 3]).local_steps == 3


def test_the_model_leaves_in_a_share_of_the_last_step():
    assert Workload(
        model_bits=1.0, compute_s=0.1, overlap=0.6, local_steps=4
    ).backward_share == pytest.approx(0.15)
    assert Workload(model_bits=1.0, compute_s=0.1, local_steps=[2, 4]).backward_share == 0.0


def test_steps_that_differ_are_kept_by_silo_and_equal_ones_as_one():
    equal = Workload(model_bits=1.0, compute_s=0.1, local_steps=np.array([3, 3]))
    differ = Workload(model_bits=1.0, compute_s=[0.1, 0.2, 0.3], local_steps=[4, 2, 3])

    assert (equal.common_steps, equal.steps_text, type(equal.local_steps)) == (3, "3", int)
    assert (differ.common_steps, differ.steps_text) == (None, "2 to 4")
    assert differ.round_compute_s(3) == pytest.approx([0.4, 0.4, 0.9])
    for values in (differ.local_steps, differ.compute_s):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    with pytest.raises(
        InputError, match=r"^local_steps has shape \(3,\); it must be a number or one for each of 2 silos\.$"
    ):
        differ.round_compute_s(2)
    with pytest.raises(InputError, match=r"^compute_s has shape \(3,\)"):
        Workload(model_bits=1.0, compute_s=[0.1, 0.2, 0.3]).round_compute_s(2)


def test_it_says_what_it_costs():
    plain = Workload(model_bits=8e6, compute_s=0.1)
    assert repr(plain) == "<Workload custom: 8000000 bit, 0.1 s per local step, local_steps 1>"
    part = Workload(
        model_bits=1.5,
        compute_s=[0.25, 0.1],
        local_steps=[1, 2],
        name="mine",
        participation=Participation(share=0.5),
    )
    assert repr(part) == (
        f"<Workload mine: 1.5 bit, 0.1 to 0.25 s per local step, local_steps 1 to 2, {Participation(share=0.5)}>"
    )
    assert repr(Workload(model_bits=1.0, compute_s=0.1, overlap=2 / 3)).endswith(
        ", local_steps 1, overlap 0.667 of a step>"
    )


def test_one_size_of_all_models_and_no_computing_are_taken():
    with pytest.raises(InputError, match=r"^model_bits has shape \(2,\); it must be a number"):
        Workload(model_bits=np.ones(2), compute_s=0.1)
    assert Workload(model_bits=1.0, compute_s=0.0).round_compute_s(2).tolist() == [0.0, 0.0]
