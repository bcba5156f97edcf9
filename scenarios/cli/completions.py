"""What the shell may complete the values of options and arguments with, by their names."""

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, get_args, get_origin

from typer.models import ParameterInfo

from topologies import SilosimError

Names = Callable[[], Iterable[str]]


def _of(owner: str, key: str) -> Names:
    """Names that a key of a scenario may have; the dataclass of its table is imported when they are asked for."""

    def names() -> Iterable[str]:
        from scenarios.config import choices

        return choices.key_choices(getattr(choices, owner), key)

    return names


def _static_kinds() -> Iterable[str]:
    from topologies import DESIGNERS

    return DESIGNERS


def _explained_kinds() -> Iterable[str]:
    from topologies import DESIGNERS, PERIODIC_DESIGNERS

    return (*DESIGNERS, *PERIODIC_DESIGNERS)


def _published() -> Iterable[str]:
    from scenarios.studies.published_tables import NETWORKS

    return NETWORKS


def _papers() -> Iterable[str]:
    from scenarios.cli.tables import PAPERS

    return PAPERS


def _studies() -> Iterable[str]:
    from scenarios.config.study import study_presets

    return study_presets()


def _units() -> Iterable[str]:
    from scenarios.metrics_import.rounds import UNITS

    return UNITS


def _closed_forms() -> Iterable[str]:
    from scenarios.report.closed_forms import FORM_FIELDS

    return FORM_FIELDS


def _rates() -> Iterable[str]:
    from scenarios.studies.design import RATES

    return RATES


def _formats() -> Iterable[str]:
    from scenarios.export.table_files import FORMATS

    return FORMATS


def _contents() -> Iterable[str]:
    from scenarios.studies.export import CONTENTS

    return CONTENTS


def _trackers() -> Iterable[str]:
    from scenarios.trackers.tracker_lookup import tracker_names

    return tracker_names()


_NETWORKS = _of("NetworkConfig", "underlay")
_BY_NAME: Mapping[str, Names] = {
    "underlay": _NETWORKS,
    "network": _NETWORKS,
    "bandwidth": _of("NetworkConfig", "bandwidth"),
    "latency": _of("NetworkConfig", "latency"),
    "routing": _of("NetworkConfig", "routing"),
    "slow_start": _of("NetworkConfig", "slow_start"),
    "preset": _of("NetworkConfig", "preset"),
    "workload": _of("WorkloadConfig", "preset"),
    "kind": _of("OverlaysConfig", "kinds"),
    "overlay": _of("OverlaysConfig", "kinds"),
    "sharing": _of("SimulationConfig", "sharing"),
    "queueing": _of("SimulationConfig", "queueing"),
    "engine": _of("SimulationConfig", "engine"),
    "dataset": _of("TrainingConfig", "dataset"),
    "partition": _of("TrainingConfig", "partition"),
    "model": _of("TrainingConfig", "model"),
    "unit": _units,
    "table_format": _formats,
    "tracker": _trackers,
    "only": _contents,
    "by": _closed_forms,
    "rates_from": _rates,
}
"""By the name of the parameter; those of designers' options are in their declarations."""
_BY_COMMAND: Mapping[tuple[str, str], Names] = {
    ("explain", "kind"): _explained_kinds,
    ("upgrade", "kind"): _static_kinds,
    ("tables", "network"): _published,
    ("tables", "paper"): _papers,
    ("study", "file"): _studies,
}
"""Where a command takes others than the rest."""


def completing(names: Names) -> Callable[[str], list[str]]:
    """Return a function that completes a beginning to those of the names that begin so; to none where they fail.

    Where nothing is found, the shell completes names of files.
    """

    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except SilosimError:
            return []

    return complete


def with_completions(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose options and arguments complete names; those that have completions keep them.

    Parameters
    ----------
    name : str
        Of the command.
    command : callable
        Its function.
    """

    @functools.wraps(command)
    def completed(*arguments: Any, **given: Any) -> None:
        command(*arguments, **given)

    parameters = [_completed(name, parameter) for parameter in inspect.signature(command).parameters.values()]
    # Typer reads a command's options from its signature.
    vars(completed)["__signature__"] = inspect.Signature(parameters)
    return completed


def _completed(command: str, parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter of a command with what completes its values, if there is something."""
    names = _BY_COMMAND.get((command, parameter.name)) or _BY_NAME.get(parameter.name)
    if names is None or get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, *marks = get_args(parameter.annotation)
    (info,) = [mark for mark in marks if isinstance(mark, ParameterInfo)]
    if info.autocompletion is not None:
        return parameter
    own = copy.copy(info)
    own.autocompletion = completing(names)
    return parameter.replace(annotation=Annotated[kind, own])
