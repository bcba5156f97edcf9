"""Columns of another program's file of metrics: which one holds the round, which ones the metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from scenarios.metrics_import.metric_names import (
    CLIENTS,
    EPOCHS,
    EXAMPLES,
    ROUNDS,
    STEPS,
    SYNONYMS,
    WITHOUT_PHASE,
    plain_name,
)
from scenarios.metrics_import.rounds import unit_of
from topologies import InputError
from topologies.errors import Field, quoted, unknown_name

_SURELY_STEPS = ("global_step", "trainer_global_step", "optimizer_step", "local_step", "local_steps")
_STEP_WORDS = frozenset(
    (
        *("step", "steps", "iteration", "iterations", "iter", "iters"),
        *("batch", "batches", "minibatch", "minibatches", "update", "updates"),
    )
)
"""Words in the name of a column that may count steps."""
OPTIONS: Mapping[str, str] = {
    "train_loss": "loss",
    "train_accuracy": "train_accuracy",
    "test_loss": "test_loss",
    "test_accuracy": "accuracy",
}
"""Command-line options that name a column."""
DRAWN = ("train_loss", "test_loss", "test_accuracy")
"""Metrics of which a file must have one."""
SILO_LOSS = "silo_loss/{silo}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnNames:
    """Names that the user gave.

    Parameters
    ----------
    round : str, optional
        By default the first of `ROUNDS` and `STEPS` that is there.
    unit : str, optional
        Unit of that column, one of `scenarios.metrics_import.rounds.UNITS`.
    metrics : mapping
        Field of `HistoryRow` to name; by default that of `SYNONYMS` with the most rows.
    silo_loss : str, optional
        With ``{silo}`` for a silo's label or number; by default `SILO_LOSS`, if it is there.
    client, examples : str, optional
        Of a file with a row for each round and client: whose row it is, and that client's number of examples. By
        default the first of `CLIENTS` and `EXAMPLES` that is there.
    first_silo : {0, 1}, optional
        Number of the first silo, where clients or `silo_loss` have numbers; by default as the file shows it.
    """

    round: str | None = None
    unit: str | None = None
    metrics: Mapping[str, str] = field(default_factory=dict)
    silo_loss: str | None = None
    client: str | None = None
    examples: str | None = None
    first_silo: int | None = None

    @classmethod
    def of_options(
        cls,
        *,
        round: str | None,
        unit: str | None,
        silo_loss: str | None,
        client: str | None,
        examples: str | None,
        first_silo: int | None,
        **given: str | None,
    ) -> Self:
        """Names as options have them: those of metrics by the names in `OPTIONS`, None where none is given."""
        metrics = {
            field: name for field, option in OPTIONS.items() if (name := given.get(option)) is not None
        }
        return cls(
            round=round,
            unit=unit,
            metrics=metrics,
            silo_loss=silo_loss,
            client=client,
            examples=examples,
            first_silo=first_silo,
        )

    def __post_init__(self) -> None:
        """Check the pattern and the first number."""
        if self.silo_loss is not None and "{silo}" not in self.silo_loss:
            raise InputError(f"silo_loss(={quoted(self.silo_loss)}) must contain {{silo}}.")
        if self.first_silo not in (None, 0, 1):
            raise InputError("must be 0 or 1.", field=Field("first_silo", value=self.first_silo))


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Columns of a file.

    Parameters
    ----------
    round : str
    unit : str
        Unit of that column, one of `scenarios.metrics_import.rounds.UNITS`.
    metrics : mapping
        Field of `HistoryRow` to column.
    left : mapping
        Field to the other columns of a similar name that have values, with their number.
    silo_loss : tuple of str
        One for each silo, or none.
    client, examples, first_silo : optional
        As `ColumnNames` has them. Without a client a round has one row, or one for each of its metrics.
    """

    round: str
    unit: str
    metrics: Mapping[str, str]
    left: Mapping[str, Mapping[str, int]]
    silo_loss: tuple[str, ...]
    client: str | None = None
    examples: str | None = None
    first_silo: int | None = None


def find_columns(
    known: Mapping[str, int],
    given: ColumnNames,
    labels: Sequence[str],
    *,
    source: str,
    local_steps: int | None,
    usual_columns: Mapping[str, Sequence[str]] | None = None,
) -> Columns:
    """Columns of a file by the user's names, by those of its format and by usual ones.

    Parameters
    ----------
    known : mapping from str to int
        All columns or tags of the file, and how many rows have a value there.
    given : ColumnNames
    labels : sequence of str
        The silos'.
    local_steps : int, optional
        Of a round; None where unknown.
    usual_columns : mapping, optional
        As `MetricsRows.columns`: the format's columns of a field, the preferred first.
    source : str
        The file, for error messages.

    Returns
    -------
    Columns

    Raises
    ------
    InputError
        If a given name is missing or given twice, no column holds the round or its unit is not clear, none holds a
        loss or the test accuracy, or only some silos have a loss.
    """
    options = {"round": given.round, "client": given.client, "examples": given.examples}
    for option, name in (*options.items(), *((OPTIONS[f], name) for f, name in given.metrics.items())):
        if name is not None and name not in known:
            raise unknown_name(option, name, known, source=source)
    alike: dict[str, list[str]] = {}
    for name in sorted(known, key=lambda name: -known[name]):
        alike.setdefault(plain_name(name), []).append(name)
    usual = {plain: names[0] for plain, names in alike.items()}
    round_ = given.round or next((usual[name] for name in _round_names(given.unit) if name in usual), None)
    listed = ", ".join([*known][:10]) + (f", ... ({len(known)} columns)" if len(known) > 10 else "")
    if round_ is None:
        epoch = next((usual[name] for name in EPOCHS if name in usual), None)
        offer = "" if epoch is None else f"--round {quoted(epoch)} takes each epoch for one round; else "
        raise InputError(
            f"has no column {ROUNDS[0]}; {offer}--round must name one of {listed}.", source=source
        )
    unit = unit_of(
        round_,
        given=given.unit,
        local_steps=local_steps,
        is_step=not _STEP_WORDS.isdisjoint(plain_name(round_).split("_")),
        is_epoch=not {"epoch", "epochs"}.isdisjoint(plain_name(round_).split("_")),
        # A program that counts epochs, too, counts optimizer steps.
        is_surely_step=plain_name(round_) in _SURELY_STEPS or any(name in usual for name in EPOCHS),
        source=source,
    )
    client, examples = _client_columns(usual, given, source=source)
    owners = {round_: "round"}
    for name, option in ((client, "client"), (examples, "examples")):
        if name is not None and owners.setdefault(name, option) != option:
            raise InputError(
                f"{option}(={quoted(name)}) must not name the column of {owners[name]} too.", source=source
            )
    for metric, name in given.metrics.items():
        option = OPTIONS[metric]
        if owners.setdefault(name, option) != option:
            rule = f"must not name the column of {owners[name]} too"
            raise InputError(
                f"{option}(={quoted(name)}) {rule}: one column cannot serve two metrics.", source=source
            )
    metrics: dict[str, str] = {}
    left: dict[str, dict[str, int]] = {}
    for metric, names in SYNONYMS.items():
        there = [name for plain in names for name in alike.get(plain, ()) if name not in owners]
        of_format = [
            name for name in (usual_columns or {}).get(metric, ()) if name in known and name not in owners
        ]
        if metric in given.metrics:
            metrics[metric] = given.metrics[metric]
        elif of_format or there:
            metrics[metric], *others = of_format or _most_rows_first(there, known)
            if any(known[name] for name in others):
                left[metric] = {name: known[name] for name in others if known[name]}
    if not any(metric in metrics for metric in DRAWN):
        raise InputError(
            f"has no column loss or accuracy; --loss or --accuracy must name one of {listed}.", source=source
        )
    silo_loss = () if client is not None else _silo_columns(usual, given, labels, source=source)
    if given.first_silo is not None and client is None and not silo_loss:
        raise InputError(
            f"goes with a column client or {SILO_LOSS}, none of which is there.",
            field=Field("first_silo", value=given.first_silo),
            source=source,
        )
    return Columns(
        round=round_,
        unit=unit,
        metrics=metrics,
        left=left,
        silo_loss=silo_loss,
        client=client,
        examples=examples,
        first_silo=given.first_silo,
    )


def _client_columns(
    usual: Mapping[str, str], given: ColumnNames, *, source: str
) -> tuple[str | None, str | None]:
    """Columns of the client and of its number of examples, where there is a row for each round and client."""
    client = given.client or next((usual[name] for name in CLIENTS if name in usual), None)
    if client is None:
        if given.examples is not None:
            raise InputError(
                "has no column client, which --examples needs: --client must name it.", source=source
            )
        return None, None
    if given.silo_loss is not None:
        raise InputError(
            f"has a row for each {client}: --silo-loss must not be given, which names a column for each silo.",
            source=source,
        )
    return client, given.examples or next((usual[name] for name in EXAMPLES if name in usual), None)


def _round_names(unit: str | None) -> Sequence[str]:
    """Names of the column of the round, the preferred first."""
    return {"steps": STEPS, "epochs": EPOCHS}.get(unit or "", (*ROUNDS, *STEPS))


def _most_rows_first(there: Sequence[str], known: Mapping[str, int]) -> list[str]:
    """Columns of one metric in the order of preference: the one with the most rows first.

    A trainer's summary of one line does not stand for the history. A column whose name says that it is the test's goes
    before one that does not, unless it is such a summary.
    """

    def key(name: str) -> tuple[bool, int]:
        return plain_name(name) in WITHOUT_PHASE or known[name] < 2, -known[name]

    return sorted(there, key=key)


def _silo_columns(
    usual: Mapping[str, str], given: ColumnNames, labels: Sequence[str], *, source: str
) -> tuple[str, ...]:
    """One column for each silo, or none; numbers are from 1 where that of the last silo is there, but not 0."""
    pattern = given.silo_loss or SILO_LOSS
    silos = range(len(labels))

    def column(silo: str | int) -> str | None:
        return usual.get(plain_name(pattern.replace("{silo}", str(silo))))

    by_label = [column(label) for label in labels]
    seen = 1 if column(len(labels)) and not column(0) else 0
    begin = seen if given.first_silo is None else given.first_silo
    by_number = [column(begin + silo) for silo in silos]
    names = by_label if any(by_label) else by_number
    if any(by_label) and given.first_silo is not None:
        raise InputError(
            f"goes with numbers of silos, but {pattern} has their labels.",
            field=Field("first_silo", value=given.first_silo),
            source=source,
        )
    if begin and any(by_number) and (before := column(begin - 1)) is not None:
        raise InputError(
            f"must be the number of the first silo: {before} is there too.",
            field=Field("first_silo", value=begin),
            source=source,
        )
    one_more = column(begin + len(labels))
    if any(by_number) and one_more is not None:
        raise InputError(f"{one_more} must not be there: there are {len(labels)} silos.", source=source)
    missing = next((silo for silo in silos if names[silo] is None), None)
    if given.silo_loss is not None and not any(names):
        raise InputError(f"has no column {pattern} of a silo such as {labels[0]} or 0.", source=source)
    if any(names) and missing is not None:
        shown = missing + (0 if any(by_label) else begin)
        raise InputError(
            f"has a loss of some silos, must have one of {labels[missing]} (silo {shown}) too: {pattern}.",
            source=source,
        )
    return tuple(name for name in names if name is not None)
