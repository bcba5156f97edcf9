"""Names that the settings of a training may have, those of installed packages included."""

from collections.abc import Mapping

from topologies.entry_points import all_names
from training import backend, config
from training.data import datasets
from training.models import named_models
from training.tasks import TASKS

OPTION_SETTINGS: Mapping[str, str] = {
    backend.GROUP: backend.OPTIONS,
    datasets.GROUP: datasets.OPTIONS,
}
"""Settings that hold the options of registered classes, by group of entry points; see `training.declared_options`."""


def setting_choices() -> dict[str, tuple[str, ...]]:
    """Return the names that are known, by the setting that takes one; imports none of the parts.

    Returns
    -------
    dict from str to tuple of str
        Of the fields of `TrainingConfig` and of ``task``.
    """
    registered = {
        "backend": all_names(backend.BACKENDS, backend.GROUP),
        "dataset": all_names(datasets.DATASETS, datasets.GROUP),
        "model": all_names(named_models.MODELS, named_models.GROUP),
    }
    return {
        **registered,
        "task": tuple(TASKS),
        **{name: tuple(table) for name, table in config.CHOICES.items()},
    }
