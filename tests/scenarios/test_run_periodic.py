"""Trainings of periodic overlays from a scenario's file."""

import numpy as np

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.reader import read_run
from scenarios.studies.run import run_scenario

SCENARIO = """
seed = 3
[network]
underlay = "gaia"
variant = "published"
access = "10 Gbps"
[workload]
preset = "femnist"
[overlays]
kinds = ["christofides", "multigraph", "base"]
[overlays.multigraph]
most_lag = {most_lag}
[simulation]
rounds = 10
[training]
ranks = 1
executor = "loop"
model = "softmax"
rounds = 8
log_every = 4
learning_rate = 0.5
"""


def trained(tmp_path, most_lag):
    """The overlays of the file of the run."""
    text, path = SCENARIO.format(most_lag=most_lag), tmp_path / f"{most_lag}.h5"
    run_scenario(parse_scenario(text, source="p.toml"), text, path, force=False, resume=False)
    return {overlay.kind: overlay for overlay in read_run(path).overlays}


def test_a_multigraph_without_lags_is_the_ring_and_with_lags_it_is_not(tmp_path):
    same, lagged = trained(tmp_path, 1), trained(tmp_path, 5)

    for name in ("train_loss", "test_accuracy", "round"):
        np.testing.assert_array_equal(
            same["multigraph"].history[name], same["christofides"].history[name], err_msg=name
        )
        np.testing.assert_array_equal(same["base"].history[name], lagged["base"].history[name], err_msg=name)
    np.testing.assert_array_equal(same["multigraph"].wall_clock_s, same["christofides"].wall_clock_s)
    assert (lagged["multigraph"].history["train_loss"] != same["multigraph"].history["train_loss"]).any()
    # A round waits for fewer arcs.
    assert lagged["multigraph"].wall_clock_s[-1] < same["multigraph"].wall_clock_s[-1]
    assert len(lagged["multigraph"].states) > 1
