"""One overlay of a scenario or command: a designer with its options, or a file, under a name."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from scenarios.config.designer_options import (
    WrittenOptions,
    check_option_kinds,
    designer_options,
    option_values,
    read_options,
    seed_values,
    takes_label_shares,
)
from scenarios.config.found_files import check_path, found_beside
from scenarios.config.kinds import DEFAULT_KINDS, check_kinds
from scenarios.config.seed import check_seed
from topologies import PERIODIC_DESIGNERS, RANDOM_DESIGNERS, Connectivity, InputError, Workload, design
from topologies.consensus import consensus_rules
from topologies.designers.ring_search import is_dense
from topologies.digraph import components
from topologies.errors import Field, quoted, unknown_name
from topologies.input_limits import MOST_OVERLAYS

_SPELLINGS = {"half": "half_ring"}
"""Other names of consensus rules."""
_MATRIX_FILES = (".csv", ".npy")
_FILE_KINDS = ("arcs", "weights", "schedule")
_NAME_BYTES = 200
"""Most of a name: it is part of the names of files, of which file systems allow 255 bytes."""
OWN_KEYS = ("kind", "name", "arcs", "weights", "schedule", "both_ways", "consensus", "seed")
"""Keys of an entry of ``[[overlays]]``; all others are options of its designer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OverlayConfig:
    """One overlay: an entry of ``[[overlays]]``.

    Parameters
    ----------
    kind : str
        Name of a designer; empty for an overlay from a file.
    name : str, optional
        What tables, figures and files call it. By default the kind, or the file's name without its ending.
    options : mapping
        Of the designer; in TOML beside the other keys.
    arcs : str, optional
        File of arcs instead of a designer: CSV with the columns from, to and perhaps weight, GML or GraphML.
    weights : str, optional
        File of a mixing matrix instead of a designer, whose pattern are the arcs: CSV or NumPy's ``.npy``.
    schedule : str, optional
        File of a periodic overlay instead of a designer: CSV with the columns state, from, to and perhaps lag and
        weight.
    both_ways : bool
        Whether each arc of `arcs` stands for both directions.
    consensus : str, optional
        Rule of the mixing weights, one of `topologies.consensus.consensus_rules`, or the file of a matrix; for a
        static overlay without a hub. By default the designer's own.
    seed : int, optional
        Of this overlay's design and rounds; by default the scenario's.
    """

    kind: str = ""
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, metadata={"key": "<option>"})
    arcs: str | None = None
    weights: str | None = None
    schedule: str | None = None
    both_ways: bool = False
    consensus: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Check the rules that hold whatever designers are installed, and choose the name."""
        for key in (*_FILE_KINDS, "consensus"):
            check_path(key, getattr(self, key))
        sources = [key for key in ("kind", *_FILE_KINDS) if getattr(self, key)]
        if len(sources) != 1:
            self._check_keys()
            given = " and ".join(sources) or "none"
            what = f" beside {', '.join(self.options)}" if self.options and not sources else ""
            raise InputError(
                f"must have one of kind, arcs, weights and schedule{what}, has {given}.", field=Field()
            )
        if not self.name:
            object.__setattr__(self, "name", self.kind if self.file is None else Path(self.file).stem)
        if (
            "/" in self.name
            or not self.name.isprintable()
            or not self.name.strip()
            or self.name in (".", "..")
        ):
            raise InputError(
                "must be printable, without a slash, and neither '.' nor '..'.",
                field=Field("name", value=self.name),
            )
        size = len(self.name.encode())
        if size > _NAME_BYTES:
            raise InputError(
                f"must have at most {_NAME_BYTES} bytes as UTF-8 text, has {size}; it is part of names of files.",
                field=Field("name", value=self.name),
            )
        if self.both_ways and self.arcs is None:
            raise InputError("goes with arcs only.", field=Field("both_ways", value=True))
        if self.weights is not None and self.consensus is not None:
            raise InputError("goes without weights, which are the mixing matrix.", field=Field("consensus"))
        if self.schedule is not None and self.consensus is not None:
            raise InputError("goes without schedule, whose states have weights.", field=Field("consensus"))
        if self.consensus is not None and not self.consensus_is_file:
            rule = consensus_rule(self.consensus, otherwise="a file ending in .csv or .npy")
            object.__setattr__(self, "consensus", rule)
        if self.options and not self.kind:
            self._check_keys()
            name = next(iter(self.options))
            raise InputError("goes with a designer's overlay only.", field=Field(name))
        if self.seed is not None:
            check_seed(self.seed)

    def _check_keys(self) -> None:
        """Raise an error for a key that is named almost like one of `OWN_KEYS`, and so was taken for an option."""
        for name in self.options:
            is_option = bool(self.kind) and name in designer_options(self.kind)
            if not is_option and difflib.get_close_matches(name.lower(), OWN_KEYS, n=1, cutoff=0.7):
                raise unknown_name("key", name, OWN_KEYS, otherwise="beside kind an option of its designer")

    @property
    def consensus_is_file(self) -> bool:
        """Whether the weights come from a file of their own."""
        return self.consensus is not None and Path(self.consensus).suffix.lower() in _MATRIX_FILES

    @property
    def is_plain(self) -> bool:
        """Whether ``kinds`` and a table of options say all of it."""
        return bool(self.kind) and self == OverlayConfig(kind=self.kind, options=self.options)

    @property
    def file(self) -> str | None:
        """The file that it is read from; None of a designer's overlay."""
        return self.arcs or self.weights or self.schedule

    @property
    def is_periodic(self) -> bool:
        """Whether its designer is one of `PERIODIC_DESIGNERS`, or it is a schedule."""
        return self.schedule is not None or self.kind in PERIODIC_DESIGNERS

    @property
    def is_randomized(self) -> bool:
        """Whether its designer is one of `RANDOM_DESIGNERS`."""
        return self.kind in RANDOM_DESIGNERS

    @property
    def takes_seed(self) -> bool:
        """Whether its design or its rounds depend on a seed."""
        return self.is_randomized or bool(self.kind and seed_values(self.kind, 0))

    @property
    def takes_label_shares(self) -> bool:
        """Whether its designer asks for the shares of labels at the silos."""
        return bool(self.kind) and takes_label_shares(self.kind)

    def check_designer(self) -> None:
        """Raise an `InputError` unless there is a designer of this kind with these options."""
        if not self.kind:
            return
        check_kinds("kind", [self.kind])
        self._check_keys()
        option_values(self.kind, self.options)
        if self.consensus is not None and (self.is_randomized or self.is_periodic):
            raise InputError(
                f"goes with a static overlay; {self.kind} has weights of its own.",
                field=Field("consensus", value=self.consensus),
            )
        if self.seed is not None and not self.is_randomized and not seed_values(self.kind, self.seed):
            raise InputError(
                f"goes with a designer that takes one; {self.kind} takes none.",
                field=Field("seed", value=self.seed),
            )

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """The same with more options of its designer, or with others."""
        return replace(self, options={**self.options, **options}) if options else self

    def beside(self, folder: Path) -> Self:
        """The same with its files found in a folder, where they are no paths from the working directory."""
        paths = {"arcs": self.arcs, "weights": self.weights, "schedule": self.schedule}
        if self.consensus_is_file:
            paths["consensus"] = self.consensus
        found: dict[str, Any] = found_beside(folder, paths)
        return replace(self, **found)

    @property
    def title(self) -> str:
        """What an error calls it: its designer or file."""
        return f"the designer {self.kind}" if self.file is None else f"the file {quoted(self.file)}"


def consensus_rule(text: str, *, otherwise: str = "") -> str:
    """Name of a rule of the mixing weights, of which some have two.

    Parameters
    ----------
    otherwise : str, optional
        What else is allowed, for the error message.

    Raises
    ------
    InputError
        If there is no such rule.
    """
    rule = _SPELLINGS.get(text, text)
    if rule not in consensus_rules:
        raise unknown_name("consensus", text, consensus_rules, otherwise=otherwise)
    return rule


DEFAULT_OVERLAYS = tuple(OverlayConfig(kind=kind) for kind in DEFAULT_KINDS)


def default_overlays(graph: Connectivity) -> tuple[OverlayConfig, ...]:
    """Those of `DEFAULT_OVERLAYS` that exist on a network; see `_why_left_out`."""
    left = _why_left_out(graph)
    return tuple(config for config in DEFAULT_OVERLAYS if config.kind not in left)


def left_out_note(graph: Connectivity) -> list[str]:
    """One sentence where a network does not have all of `DEFAULT_OVERLAYS`, with the reasons."""
    left = _why_left_out(graph)
    reasons = [
        f"{', '.join(kind for kind in left if left[kind] == why)}, as {why}"
        for why in dict.fromkeys(left.values())
    ]
    return [f"left out: {'; '.join(reasons)}."] if reasons else []


def _why_left_out(graph: Connectivity) -> dict[str, str]:
    """Why kinds of `DEFAULT_OVERLAYS` do not exist on a network, from the pairs that can talk.

    Whether there is a ring is NP-complete: where few pairs can talk its designer searches for one, on equal terms for
    all models and computing times. On many silos it may miss one.
    """
    both = graph.may_send & graph.may_send.T
    if np.count_nonzero(both) == graph.silos * (graph.silos - 1):
        return {}
    few = "too few pairs can talk both ways"
    left = {}
    if not (both.sum(axis=1) == graph.silos - 1).any():
        left["star"] = "no silo can talk both ways with all others"
    if components(graph.silos, *np.nonzero(both), strong=False)[0] > 1:
        left |= {"star": few, "mst": few, "delta_mbst": few}
    if not is_dense(graph.may_send):
        try:
            design("ring", graph, Workload(model_bits=1.0, compute_s=0.0))
        except InputError as error:
            left["ring"] = str(error).removeprefix("ring: ").rstrip(".")
    return left


def chosen_overlays(
    names: Iterable[str] | None,
    default: Sequence[OverlayConfig],
    options: WrittenOptions | None = None,
    *,
    field: str = "overlay kind",
) -> tuple[OverlayConfig, ...]:
    """Overlays that a user asks for by name.

    Parameters
    ----------
    names : iterable of str, optional
        Names of the default overlays, or kinds of designers, each once. None or empty for the default ones.
    default : sequence of OverlayConfig
        Those of the scenario or command. Where there are none, as no default overlay exists on the network, they are
        `DEFAULT_OVERLAYS`: designing the first one says why.
    options : mapping from kind to mapping, optional
        Options of designers; they go before those of the default overlays.
    field : str
        What an error calls a name.

    Raises
    ------
    InputError
        If a kind is unknown, or options are those of another kind.
    """
    by_name = {config.name: config for config in default or DEFAULT_OVERLAYS}
    asked = list(dict.fromkeys(names or by_name))
    check_kinds(field, [name for name in asked if name not in by_name])
    chosen = [by_name[name] if name in by_name else OverlayConfig(kind=name) for name in asked]
    check_option_kinds(options or {}, [config.kind for config in chosen])
    return distinct([config.with_options((options or {}).get(config.kind, {})) for config in chosen])


def asked_overlays(
    names: Iterable[str] | None,
    given: Mapping[str, str],
    default: Sequence[OverlayConfig],
    *,
    arcs: Iterable[str] | None = None,
    weights: Iterable[str] | None = None,
    schedules: Iterable[str] | None = None,
    both_ways: bool,
) -> tuple[OverlayConfig, ...]:
    """Overlays that a command line asks for.

    Parameters
    ----------
    names, default
        As for `chosen_overlays`; without default ones, the files are all that is asked for.
    given : mapping from option to str
        Options of designers; each goes to all kinds that have it.
    arcs, weights, schedules : iterable of str, optional
        Files; each is one overlay more.
    both_ways : bool
        See `OverlayConfig`, for all files of arcs.

    Raises
    ------
    InputError
        If a kind is unknown, no kind has an option, a value is wrong, or two overlays have one name.
    """
    if both_ways and not arcs:
        raise InputError("both_ways(=True) goes with --arcs.")
    files = [OverlayConfig(arcs=file, both_ways=both_ways) for file in arcs or ()]
    files += [OverlayConfig(weights=file) for file in weights or ()]
    files += [OverlayConfig(schedule=file) for file in schedules or ()]
    chosen = chosen_overlays(names, default) if names or default or not files else ()
    options = read_options([config.kind for config in chosen if config.kind], given)
    return distinct([*(config.with_options(options.get(config.kind, {})) for config in chosen), *files])


def distinct(overlays: Sequence[OverlayConfig]) -> tuple[OverlayConfig, ...]:
    """The overlays, whose names must differ.

    Raises
    ------
    InputError
        If two have one name, or there are more than `MOST_OVERLAYS`.
    """
    if len(overlays) > MOST_OVERLAYS:
        raise InputError(
            f"must name at most {MOST_OVERLAYS:,} overlays, names {len(overlays):,}.", field=Field()
        )
    seen: dict[str, OverlayConfig] = {}
    for config in overlays:
        if config.name in seen:
            raise InputError(
                f"must not repeat a name: {_same_name(seen[config.name], config)}.",
                field=Field("name", value=config.name),
            )
        seen[config.name] = config
    return tuple(overlays)


def _same_name(one: OverlayConfig, other: OverlayConfig) -> str:
    """Why two overlays have one name, and what to do."""
    way = "state a name in [[overlays]] of a scenario"
    if one == other:
        return f"two overlays are {one.title}, and equal in all else; leave one out, or {way}"
    if one.title == other.title:
        return f"two overlays are {one.title}; {way} for one of them"
    if not (one.kind and other.kind):
        way = f"rename a file, or {way}"
    return f"{one.title} and {other.title} have it; {way}"


def entry_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `OverlayConfig` of an entry of ``[[overlays]]``, in which options stand beside the other keys."""
    own = {key: value for key, value in table.items() if key in OWN_KEYS}
    options = {key: value for key, value in table.items() if key not in OWN_KEYS}
    return {**own, "options": options} if options else own
