import math
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from topologies import state_of
from topologies.errors import InputError
from training import MixingPlan, TrainingConfig, check_data
from training.config import CHOICES
from training.data.datasets import DataOptions, load_dataset
from training.mpi.job_file import read_job, write_job


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": 0}, "rounds(=0) must be >= 1."),
        ({"ranks": -1}, "ranks(=-1) must be >= 1."),
        ({"batch_size": True}, "batch_size(=True) must be an integer."),
        ({"log_every": 1.5}, "log_every(=1.5) must be an integer."),
        ({"checkpoint_every": -1}, "checkpoint_every(=-1) must be >= 0."),
        ({"keep_models": 1}, "keep_models(=1) must be true or false."),
        ({"learning_rate": -0.1}, "learning_rate(=-0.1) must be >= 0."),
        ({"learning_rate": math.nan}, "learning_rate(=nan) must be a finite number."),
        ({"learning_rate": "fast"}, "learning_rate(='fast') must be a finite number."),
        ({"dirichlet_alpha": 0.0}, "dirichlet_alpha(=0.0) must be > 0."),
        ({"momentum": 1.0}, "momentum(=1.0) must be >= 0 and < 1."),
        ({"momentum": 0.9, "optimizer": "adam"}, "momentum(=0.9) must be 0 with optimizer adam."),
        ({"evaluate": 0.0}, "evaluate(=0.0) must be a share > 0 and <= 1, or a whole number of samples."),
        ({"evaluate": 10.5}, "evaluate(=10.5) must be a share > 0 and <= 1, or a whole number of samples."),
        ({"warm_up_rounds": 151}, "warm_up_rounds(=151) must be <= rounds(=150)."),
        ({"warm_up_rounds": -1}, "warm_up_rounds(=-1) must be >= 0."),
        ({"decay_every": 5}, "decay_every(=5) goes with learning_rate_schedule = 'step'."),
        (
            {"learning_rate_schedule": "step", "decay_every": 0},
            "decay_every(=0) must be >= 1.",
        ),
        ({"decay_factor": 1.5}, "decay_factor(=1.5) must be > 0 and <= 1."),
        (
            {"learning_rate_schedule": "cosine", "final_learning_rate": 0.2},
            "final_learning_rate(=0.2) must be >= 0 and <= learning_rate(=0.1).",
        ),
        (
            {"final_learning_rate": 0.05},
            "final_learning_rate(=0.05) goes with learning_rate_schedule = 'cosine'.",
        ),
        ({"weight_decay": -1e-3}, "weight_decay(=-0.001) must be >= 0."),
        ({"clip_norm": 0.0}, "clip_norm(=0.0) must be > 0."),
        ({"clip_value": float("nan")}, "clip_value(=nan) must be a finite number."),
        ({"clip_norm": 1.0, "clip_value": 1.0}, "clip_norm(=1.0) must not be given with clip_value."),
        ({"target_accuracy": 1.1}, "target_accuracy(=1.1) must be > 0 and <= 1."),
        (
            {"model": "cnnn"},
            "model(='cnnn') must be one of bilstm, char_gru, cnn, femnist_cnn,",
        ),
        (
            {"model": ["cnn"]},
            "model(=['cnn']) must be one of bilstm, char_gru, cnn, femnist_cnn,",
        ),
        ({"dataset": "mnist"}, "dataset(='mnist') must be one of csv_file, digits"),
        (
            {"partition": "dirichlett"},
            "partition(='dirichlett') must be one of dirichlet, geographic, groups, iid (did you mean 'dirichlet'?).",
        ),
        ({"optimizer": "adm"}, "optimizer(='adm') must be one of adam, sgd (did you mean 'adam'?)."),
        ({"learning_rate_schedule": "linear"}, "must be one of constant, cosine, halved_each_epoch"),
        (
            {"objective": "sample"},
            "objective(='sample') must be one of samples, silos (did you mean 'samples'?).",
        ),
        ({"initial_weights": 1}, "initial_weights(=1) must be the path of a file."),
        ({"exchange_buffers": "no"}, "exchange_buffers(='no') must be true or false."),
        ({"gpu_aware_mpi": 1}, "gpu_aware_mpi(=1) must be true or false."),
        ({"device": "gpu"}, "device(='gpu') must be one of auto, cpu, cuda"),
        ({"data": 1}, "data(=1) must be the path of a folder or a file."),
        ({"skip_bad": 0}, "skip_bad(=0) must be true or false."),
        ({"backend_options": 1}, "backend_options(=1) must be a table."),
        ({"dataset_options": "a"}, "dataset_options(='a') must be a table."),
        ({"shift_west_deg": math.inf}, "shift_west_deg(=inf) must be a finite number."),
        ({"clip_norm": 1e39}, "clip_norm(=1e+39) must be <= 3.4e+38, as models have 32 bits."),
        (
            {"executor": "vmap", "model": "char_gru"},
            "executor(=vmap) must be auto, graphs or loop with model char_gru: "
            "torch cannot compute recurrent layers of many models at once.",
        ),
        (
            {"executor": "vmap", "model": "resnet18", "precision": "bf16"},
            "executor(=vmap) must be auto, graphs or loop with model resnet18 and precision bf16: "
            "torch cannot compute batch norm of many models at once under autocast.",
        ),
        ({"executor": "graphs"}, "executor(=graphs) must be auto, loop or vmap with device cpu."),
    ],
)
def test_a_wrong_setting_names_field_value_and_rule(settings, message):
    with pytest.raises(InputError) as caught:
        TrainingConfig(**settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("matrices", "index", "message"),
    [
        (np.full((1, 2, 2), 0.6), [0], "mixing matrix 0, row 0: its sum(=1.2) must be 1 within 1e-9."),
        (
            np.array([[[1, 0], [math.nan, 1]]]),
            [0],
            "mixing matrix 0, row 1: its sum(=nan) must be 1 within 1e-9.",
        ),
        (np.array([[[math.inf, -math.inf], [0, 1]]]), [0], "mixing matrix 0, row 0"),
        (
            np.array([[[1.0, 0.0], [1.25, -0.25]]]),
            [0],
            "mixing matrix 0, row 1: its weight(=-0.25) of silo 1 must be >= 0, or negative_weights=True be given.",
        ),
        (np.ones((1, 2, 3)) / 3, [0], "must have shape (m, silos, silos)."),
        (np.empty((0, 2, 2)), [], "must have shape (m, silos, silos)."),
        (np.ones((1, 1, 1)), [1], "mixing index(=1..1) must lie in 0..0."),
        (np.ones((1, 1, 1)), [-1], "mixing index(=-1..-1) must lie in 0..0."),
        (np.ones((2, 1, 1)), [1, -1, 0], "mixing index(=-1..1) must lie in 0..1."),
        (np.ones((2, 1, 1)), [1, 2, 0], "mixing index(=0..2) must lie in 0..1."),
        (np.ones((1, 1, 1)), [0.5], "must hold one integer per round."),
    ],
)
def test_a_wrong_plan_names_what_is_wrong(matrices, index, message):
    with np.errstate(invalid="ignore"), pytest.raises(InputError) as caught:
        MixingPlan(matrices=matrices, index=np.array(index))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"shift_west_deg": -270.5},
        {"clip_norm": 1.0},
        {"clip_value": 1.0},
        {"executor": "vmap", "model": "resnet18"},
        {"executor": "vmap", "model": "cnn", "precision": "bf16"},
        {"executor": "loop", "model": "resnet18", "precision": "bf16"},
        {"executor": "loop", "model": "char_gru"},
        {"executor": "graphs", "device": "auto"},
        {"momentum": 0.5, "optimizer": "sgd"},
        {"optimizer": "adam"},
        {"exchange_buffers": True},
        {"compression": "qsgd", "quantization_levels": 1},
        {"compression": "qsgd", "quantization_levels": 2**20},
        {"compression": "top_k", "compression_ratio": 1.0, "consensus_step": 1.0},
    ],
)
def test_settings_that_go_together_are_taken(settings):
    config = TrainingConfig(**settings)
    assert {name: getattr(config, name) for name in settings} == settings


def test_how_the_data_are_read_is_in_the_options_of_the_reader():
    config = TrainingConfig(dataset="image_folder", data="there", skip_bad=True, dataset_options={"size": 8})
    assert config.data_options == DataOptions(data="there", skip_bad=True, declared={"size": 8})
    # Bad images are looked for where they are to be skipped, and stop the reader where not.
    plain = DataOptions()
    assert (plain.data, plain.skip_bad, plain.decode_all, plain.declared) == ("", False, True, {})
    assert TrainingConfig().data_options == plain


def test_what_rounding_leaves_of_a_weight_may_be_below_0_by_1e_9():
    def made(weight):
        return MixingPlan(matrices=np.array([[[1 - weight, weight], [0, 1]]]), index=np.array([0]))

    assert made(-1e-9).matrices[0, 0, 1] == -1e-9
    with pytest.raises(InputError, match=r"row 0: its weight\(=-1\.1e-09\) of silo 1 must be >= 0"):
        made(-1.1e-9)


def test_a_weight_that_rounding_leaves_below_0_does_not_hinder_the_exchange_of_buffers(make_job):
    matrix = np.array([[1 + 1e-9, -1e-9], [0, 1]])
    assert make_job(silos=2, matrix=matrix, exchange_buffers=True).silos == 2


def test_a_plan_holds_the_matrices_that_its_rounds_meet_and_no_others():
    states = [state_of([0], [1], [weight], [1]) for weight in (0.5, 0.25, 0.125)]
    for rounds, met in ((1, 1), (2, 2), (3, 3), (7, 3)):
        plan = MixingPlan.periodic(states, silos=2, rounds=rounds)
        assert plan.matrices[:, 1, 0].tolist() == [0.5, 0.25, 0.125][:met]
        assert plan.index.tolist() == [0, 1, 2, 0, 1, 2, 0][:rounds]
        assert (plan.rounds, plan.longest_lag, plan.lags) == (rounds, 1, None)


def test_a_lag_of_2_is_one_round_more_and_counts_only_with_a_weight():
    states = [state_of([0], [1], [0.5], [2]), state_of([1], [0], [0.25], [1])]
    plan = MixingPlan.periodic(states, silos=2, rounds=3)
    assert plan.lags.tolist() == [[[1, 0], [2, 1]], [[1, 1], [0, 1]]]
    assert (plan.longest_lag, plan.rounds, plan.index.tolist()) == (2, 3, [0, 1, 0, 1])
    # Round 0 lacks the model of the round before it; silo 1 keeps its own.
    assert [each.tolist() for each in plan.round_weights(0)] == [np.eye(2).tolist(), np.eye(2).tolist()]
    assert plan.round_weights(2)[0].tolist() == [[1, 0], [0.5, 0.5]]
    without = MixingPlan.periodic([state_of([0], [1], [0.0], [2])], silos=2, rounds=3)
    assert (without.longest_lag, without.lags, without.index.tolist()) == (1, None, [0, 0, 0])


def test_a_plan_of_one_matrix_may_have_negative_weights_if_it_says_so():
    matrix = np.array([[1.25, -0.25], [0, 1]])
    plan = MixingPlan.constant(matrix, 2, negative_weights=True)
    assert (plan.matrices.tolist(), plan.index.tolist()) == ([matrix.tolist()], [0, 0])
    assert (plan.negative_weights, plan.longest_lag, plan.rounds) == (True, 1, 2)
    rule = r"must be >= 0, or negative_weights=True be given\.$"
    with pytest.raises(InputError, match=rule):
        MixingPlan.constant(matrix, 2)
    # Silo 1 takes twice the difference to silo 0: its own model counts -1.
    states = [state_of([0], [1], [2.0])]
    periodic = MixingPlan.periodic(states, silos=2, rounds=2, negative_weights=True)
    assert (periodic.matrices.tolist(), periodic.negative_weights) == ([[[1, 0], [2, -1]]], True)
    with pytest.raises(InputError, match=rule):
        MixingPlan.periodic(states, silos=2, rounds=2)


def test_the_first_weight_below_0_is_named_by_matrix_row_and_column():
    matrices = np.array([np.eye(3), [[1, 0, 0], [0, 1, 0], [1.5, -0.25, -0.25]]])
    with pytest.raises(InputError) as caught:
        MixingPlan(matrices=matrices, index=np.array([0, 1]))
    assert str(caught.value) == (
        "mixing matrix 1, row 2: its weight(=-0.25) of silo 1 must be >= 0, or negative_weights=True be given."
    )


@pytest.mark.parametrize(
    ("lags", "message"),
    [
        (
            np.ones((1, 2), dtype=int),
            "mixing lags(shape=(1, 2)) must have the shape of the matrices, (2, 2, 2).",
        ),
        (np.ones((2, 2, 2)), "mixing lags must hold integers, not float64."),
        (
            np.array([[[1, 1], [1, 1]], [[1, 1], [2, 2]]]),
            "mixing matrix 1, row 1: lag(=2) of silo 1 must be 1: a silo mixes its own model as it is.",
        ),
        (
            np.array([[[1, 1], [1, 1]], [[1, 0], [-1, 1]]]),
            "mixing matrix 1, row 0: lag(=0) of silo 1 must be >= 1.",
        ),
    ],
)
def test_wrong_lags_name_what_is_wrong(lags, message):
    with pytest.raises(InputError) as caught:
        MixingPlan(matrices=np.full((2, 2, 2), 0.5), index=np.array([0, 1, 0]), lags=lags)
    assert str(caught.value) == message


def test_a_job_of_more_rounds_than_its_plan_is_told_so_wherever_silos_compute(make_job):
    matrices = np.stack([np.eye(2), np.full((2, 2), 0.5)])
    plan = MixingPlan(matrices=matrices, index=np.array([0, 1, 0]), computes=np.array([True, False]))
    for rounds in (2, 5):
        with pytest.raises(InputError) as caught:
            make_job(silos=2, rounds=rounds, mixing=plan, taking_part=np.ones((2, 2), dtype=bool))
        assert str(caught.value) == f"mixing index(rounds=3) must have rounds(={rounds}) entries."
    # Silos compute in two of the rounds, for which there are two rows.
    job = make_job(silos=2, rounds=3, mixing=plan, taking_part=np.array([[True, False], [False, True]]))
    assert job.steps.before(2).tolist() == [1, 1]


def test_plans_jobs_and_data_are_shown_on_one_line(make_job):
    job = make_job(silos=2, rounds=3)
    assert repr(job) == "<TrainingJob: softmax on digits, 2 silos, 3 rounds, seed 7>"
    assert repr(job.mixing) == "<MixingPlan: 2 silos, 3 rounds, matrices: 1, longest lag 1>"
    data = load_dataset("digits", DataOptions())
    assert repr(data) == "<Dataset digits: 1442 + 355 samples of shape (1, 8, 8), 10 classes>"
    checked = check_data(job.config, silos=2, seed=0)
    assert repr(checked) == f"<CheckedData: {type(checked.model).__name__}, 2 silos, {checked.dataset!r}>"
    assert "\n" not in repr(checked)


def test_what_plans_and_jobs_compute_themselves_is_no_argument_and_not_in_their_text(make_job):
    matrices = np.stack([np.eye(2), np.full((2, 2), 0.5)])
    plan = MixingPlan(matrices=matrices, index=np.array([0, 1, 0]), computes=np.array([True, False]))
    job = make_job(silos=2, rounds=3, mixing=plan, taking_part=np.ones((2, 2), dtype=bool))
    for made, own in ((plan, "_computed"), (job, "steps"), (job.steps, "_before")):
        assert getattr(made, own) is not None
        assert own not in signature(type(made)).parameters
        assert f", {own}=" not in repr(made)


def test_with_lags_a_plan_has_the_rounds_in_which_the_last_models_are_mixed(make_job):
    plan = MixingPlan.periodic([state_of([0], [1], [0.5], [3])], silos=2, rounds=4)
    assert make_job(silos=2, rounds=4, mixing=plan).mixing.index.size == 6
    with pytest.raises(InputError) as caught:
        make_job(silos=2, rounds=6, mixing=plan)
    rule = "must have rounds(=6) + longest lag(=3) - 1 entries."
    assert str(caught.value) == f"mixing index(rounds=6) {rule}"


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (4,), (2, 3)])
def test_places_of_silos_are_one_for_each(make_job, shape):
    job = make_job(silos=2)
    with pytest.raises(InputError) as caught:
        replace(job, silo_places=np.zeros(shape))
    assert str(caught.value) == (
        f"silo_places(shape={shape}) must have one latitude and longitude for each of silos(=2)."
    )
    places = np.array([[1, 2], [3, 4]])
    kept = replace(job, silo_places=places).silo_places
    assert (kept.dtype, kept.flags.writeable, kept.tolist()) == (np.float64, False, places.tolist())


def test_what_a_plan_of_a_compressed_training_must_be(make_job):
    alone, ring = np.eye(2), np.full((2, 2), 0.5)

    def plan(index):
        return MixingPlan(matrices=np.stack([ring, alone]), index=np.array(index))

    for compressed_gossip, index in (("choco", [0, 0]), ("choco", [1, 1]), ("error_feedback", [0, 1])):
        made = {"compression": "sign", "compressed_gossip": compressed_gossip}
        assert make_job(silos=2, rounds=2, mixing=plan(index), **made).mixing.index.tolist() == index
    with pytest.raises(InputError) as caught:
        make_job(silos=2, rounds=2, mixing=plan([0, 1]), compression="sign")
    assert str(caught.value) == (
        "compressed_gossip(='choco') must be 'error_feedback' where silos do not send to the same silos in all rounds."
    )
    # A silo knows its own model whether it mixes it or not.
    swap = MixingPlan(matrices=np.stack([ring, 1 - alone]), index=np.array([0, 1]))
    assert make_job(silos=2, rounds=2, mixing=swap, compression="sign").silos == 2


def test_a_plan_cannot_be_changed_and_leaves_its_input_writable():
    matrices = np.ones((1, 1, 1))
    plan = MixingPlan(matrices=matrices, index=np.array([0]))
    with pytest.raises(ValueError, match="read-only"):
        plan.matrices[0, 0, 0] = 2
    assert matrices.flags.writeable


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"silos": 0, "matrix": np.eye(1)}, "silos(=0) must be >= 1."),
        ({"local_steps": 0}, "local_steps(=0) must be >= 1."),
        ({"seed": -1}, "seed(=-1) must be >= 0."),
        ({"silos": 3, "matrix": np.eye(2)}, "mixing matrices(silos=2) must have as many rows as silos(=3)."),
        (
            {"rounds": 3, "mixing": MixingPlan.constant(np.eye(4), 5)},
            "mixing index(rounds=5) must have rounds(=3) entries.",
        ),
        (
            {"silos": 2, "silo_labels": ("Oslo",)},
            "silo_labels(of 1) must name each of silos(=2).",
        ),
        (
            {
                "silos": 2,
                "rounds": 3,
                "mixing": MixingPlan.constant(
                    np.array([[1.0, 0.0], [1.25, -0.25]]), 3, negative_weights=True
                ),
                "exchange_buffers": True,
            },
            "mixing matrix 0, row 1: its weight(=-0.25) must be >= 0 with exchange_buffers = true.",
        ),
    ],
)
def test_a_wrong_job_names_what_is_wrong(make_job, settings, message):
    with pytest.raises(InputError) as caught:
        make_job(**settings)
    assert message in str(caught.value)


def test_a_job_file_keeps_every_bit(make_job, tmp_path: Path):
    matrices = np.random.default_rng(0).dirichlet(np.ones(5), size=(3, 5))
    mixing = MixingPlan(matrices=matrices, index=np.array([2, 0, 1, 2]))
    job = make_job(silos=5, rounds=4, local_steps=2, seed=2**40, mixing=mixing, learning_rate=0.1 + 1e-17)
    write_job(tmp_path / "job.npz", job)
    read = read_job(tmp_path / "job.npz")
    assert read.config == job.config
    assert read.directory is None
    assert read.silo_labels is None
    assert (read.silos, read.local_steps, read.seed) == (5, 2, 2**40)
    np.testing.assert_array_equal(read.mixing.matrices, matrices)
    np.testing.assert_array_equal(read.mixing.index, [2, 0, 1, 2])


def test_the_ranks_get_the_labels_of_the_silos(make_job, tmp_path):
    labels = ("Oslo", "São Paulo/2")
    write_job(tmp_path / "job.npz", make_job(silos=2, silo_labels=labels))
    assert read_job(tmp_path / "job.npz").silo_labels == labels


def test_the_ranks_get_the_directory_whatever_folder_they_run_in(make_job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path / "job.npz", replace(make_job(), directory=Path("checkpoints")))
    assert read_job(tmp_path / "job.npz").directory == tmp_path / "checkpoints"


def test_lags_are_kept_where_weights_are():
    matrices = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    index = np.zeros(4, dtype=int)

    def kept(lag, unused):
        return MixingPlan(matrices=matrices, index=index, lags=np.array([[[1, unused], [lag, 1]]])).lags

    assert kept(3, 7).tolist() == kept(3, -7).tolist() == [[[1, 0], [3, 1]]]
    assert kept(1, 7) is None
    for lag in (0, -1):
        with pytest.raises(
            InputError, match=rf"^mixing matrix 0, row 1: lag\(={lag}\) of silo 0 must be >= 1\.$"
        ):
            kept(lag, 1)


TINY, BELOW_1, ABOVE_1 = 5e-324, math.nextafter(1, 0), math.nextafter(1, 2)
STEP, COSINE = {"learning_rate_schedule": "step"}, {"learning_rate_schedule": "cosine"}
TOP_K, QSGD = {"compression": "top_k"}, {"compression": "qsgd"}


@pytest.mark.parametrize(
    ("key", "taken", "refused", "others"),
    [
        *((key, 1, 0, {}) for key in ("ranks", "rounds", "batch_size", "log_every")),
        ("checkpoint_every", 0, -1, {}),
        ("dirichlet_alpha", TINY, 0, {}),
        ("learning_rate", 0, -TINY, {}),
        ("momentum", 0, -TINY, {}),
        ("momentum", BELOW_1, 1, {}),
        ("weight_decay", 0, -TINY, {}),
        *(
            (key, 3.4e38, math.nextafter(3.4e38, math.inf), {})
            for key in ("learning_rate", "weight_decay", "clip_norm", "clip_value")
        ),
        ("clip_norm", TINY, 0, {}),
        ("clip_value", TINY, 0, {}),
        ("evaluate", TINY, 0, {}),
        ("evaluate", 1, ABOVE_1, {}),
        ("evaluate", 2, 1.5, {}),
        ("evaluate", 10, 9.5, {}),
        ("target_accuracy", TINY, 0, {}),
        ("target_accuracy", 1, ABOVE_1, {}),
        ("warm_up_rounds", 0, -1, {}),
        ("warm_up_rounds", 150, 151, {}),
        ("decay_factor", TINY, 0, STEP),
        ("decay_factor", 1, ABOVE_1, STEP),
        ("decay_every", 1, 0, STEP),
        ("final_learning_rate", 0, -TINY, COSINE),
        ("final_learning_rate", 0.1, math.nextafter(0.1, 1), COSINE),
        ("compression_ratio", TINY, 0, TOP_K),
        ("compression_ratio", 1, ABOVE_1, TOP_K),
        ("quantization_levels", 1, 0, QSGD),
        ("quantization_levels", 1_048_576, 1_048_577, QSGD),
        ("consensus_step", 0, -TINY, QSGD),
        ("consensus_step", 1, ABOVE_1, QSGD),
    ],
)
def test_the_last_value_that_a_key_may_have_and_the_first_that_it_may_not(key, taken, refused, others):
    assert getattr(TrainingConfig(**{key: taken}, **others), key) == taken
    with pytest.raises(InputError, match=rf"\b{key}\(="):
        TrainingConfig(**{key: refused}, **others)


@pytest.mark.parametrize(
    ("key", "value", "other", "values"),
    [
        ("decay_every", 7, "learning_rate_schedule", ("step",)),
        ("decay_factor", 0.5, "learning_rate_schedule", ("step",)),
        ("final_learning_rate", 0.01, "learning_rate_schedule", ("cosine",)),
        ("compression_ratio", 0.5, "compression", ("top_k", "random_k")),
        ("quantization_levels", 7, "compression", ("qsgd",)),
        ("compressed_gossip", "error_feedback", "compression", ("top_k", "random_k", "qsgd", "sign")),
        ("consensus_step", 0.5, "compression", ("top_k", "random_k", "qsgd", "sign")),
    ],
)
def test_keys_go_with_some_values_of_another_key(key, value, other, values):
    for each in CHOICES[other]:
        assert (key in TrainingConfig.idle_keys(other, each)) == (each not in values)
        if each in values:
            TrainingConfig(**{key: value, other: each})
        else:
            with pytest.raises(InputError, match=rf"^{key}\(=.*\) goes with {other} = "):
                TrainingConfig(**{key: value, other: each})


def test_without_compression_its_keys_have_their_defaults():
    compressed = TrainingConfig(
        compression="top_k",
        compression_ratio=0.5,
        compressed_gossip="error_feedback",
        consensus_step=0.5,
        rounds=9,
    )

    assert compressed.uncompressed == TrainingConfig(rounds=9)
