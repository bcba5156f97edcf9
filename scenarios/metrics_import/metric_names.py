"""Names that other programs give to metrics, rounds, clients and numbers of examples."""

import re
from collections.abc import Mapping, Sequence

TEST, TRAIN = ("test", "val", "validation", "valid", "eval"), ("train", "training")
"""Words for the phase that a metric is of, the preferred first."""
ROUNDS = ("round", "rounds", "communication_round", "server_round", "global_round")
STEPS = (
    *("step", "global_step", "trainer_global_step", "optimizer_step", "iteration", "iter"),
    *("steps", "local_step", "local_steps", "iterations"),
)
"""Names of columns of steps, which some programs give to rounds."""
EPOCHS = ("epoch", "epochs", "train_epoch")
CLIENTS = (
    *("client", "client_id", "clientid", "client_name", "cid"),
    *("silo", "silo_id", "silo_name", "node_id", "partition_id"),
)
"""Names of the column that says whose row it is, in a file with a row for each round and client."""
EXAMPLES = (
    *("num_examples", "examples", "n_examples", "number_of_examples"),
    *("num_samples", "samples", "n_samples", "number_of_samples", "data_size", "dataset_size"),
)
"""Names of the column of a client's number of examples."""
BARE: Mapping[str, tuple[str, ...]] = {
    "loss": ("loss",),
    "accuracy": ("accuracy", "acc"),
    "top5_accuracy": ("top5_accuracy", "top_5_accuracy", "top5_acc", "top_5_acc", "acc5"),
}
"""Names of metrics that do not say which phase they are of."""
_ACCURACY, _TOP5 = BARE["accuracy"], BARE["top5_accuracy"]


def _names(phases: Sequence[str], metrics: Sequence[str]) -> tuple[str, ...]:
    """Such as ``train_loss`` and ``loss_train``, then with the ends by which Lightning tells means from steps.

    ``train_epoch_loss`` is the tag ``epoch_loss`` of Keras in its folder ``train``.
    """
    pairs = [(phase, metric) for phase in phases for metric in metrics]
    names = [f"{a}_{b}" for a, b in pairs] + [f"{b}_{a}" for a, b in pairs]
    ends = tuple(f"{name}{end}" for end in ("", "_epoch", "_step") for name in names)
    return (*ends, *(f"{a}_epoch_{b}" for a, b in pairs))


SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "train_loss": (*_names(TRAIN, ("loss",)), "loss"),
    "train_accuracy": _names(TRAIN, _ACCURACY),
    "test_loss": _names(TEST, ("loss",)),
    "test_accuracy": (*_names(TEST, _ACCURACY), *_ACCURACY),
    "consensus_distance": ("consensus_distance",),
    "objective": ("objective",),
    "train_top5_accuracy": _names(TRAIN, _TOP5),
    "test_top5_accuracy": (*_names(TEST, _TOP5), *_TOP5),
}
"""Names in lower case of each metric, the preferred first; any sign between letters and digits counts as ``_``."""
WITHOUT_PHASE = (*_ACCURACY, *_TOP5)
"""Names of the test's accuracies that some programs give to the training's."""


def plain_name(name: str) -> str:
    """Lower case, with ``_`` for any sign between letters and digits."""
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")
