"""What a workload takes as local steps."""

import numpy as np
import pytest

from topologies import InputError, Workload


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
