"""Options that a designer declares in its signature, for the command line and scenarios to offer."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from topologies.arrays import FloatArray
from topologies.entry_points import reason
from topologies.errors import InputError, quoted, unknown_name

M = TypeVar("M")
RESERVED = frozenset(
    [
        *("access", "access_at", "access_down", "access_hub", "access_up", "accuracy", "acks"),
        *("arcs", "as_json", "bandwidth", "bandwidth_matrix", "blocked", "both_ways", "bound"),
        *("by", "client", "compute", "compute_at", "compute_times", "consensus", "context", "core"),
        *("cycle_time", "engine", "examples", "factor", "fat_pipe", "fat_pipes", "file"),
        *("first_silo", "force", "half_duplex", "help", "internal_only", "json", "kind"),
        *("largest_component", "latency", "latency_matrix", "links", "local_steps", "local_steps_at", "loss"),
        *("messages", "model_size", "more", "multipath_seed", "name", "on", "options", "output"),
        *(
            "overhead",
            "overlap",
            "pairs",
            "percent",
            "preset",
            "prices",
            "published",
            "queueing",
            "rates_from",
        ),
        *(
            "round",
            "round_",
            "rounds",
            "routes",
            "routing",
            "run",
            "schedule",
            "seed",
            "shared_access",
        ),
        *("sharing", "shift", "silo_at", "silo_loss", "sites", "slow_start", "split_flows"),
        *(
            "streams",
            "streams_at",
            "study",
            "target_accuracy",
            "test_loss",
            "to",
            "train_accuracy",
            "underlay",
            "unit",
        ),
        *("until_ci", "weights", "width", "window", "window_at", "workers", "workload"),
    ]
)
"""Names that no option can have: those of options and parameters of the commands that design overlays, and of keys of
``[[overlays]]``."""
_ABSTRACT: Mapping[type, type] = MappingProxyType({int: Integral, float: Real})


@dataclass(frozen=True, slots=True)
class RunSeed:
    """Marks the parameter that receives the seed of the command or scenario, see `Seed`."""


Seed = Annotated[int, RunSeed()]
"""Annotation of that parameter."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Marks the parameter that receives a callable for the share that is done, see `Progress`."""


Progress = Annotated[Callable[[float], None] | None, RunProgress()]
"""Annotation of that parameter: the designer calls it with numbers of 0 to 1, in rising order."""


@dataclass(frozen=True, slots=True)
class RunLabelShares:
    """Marks the parameter that receives the shares of labels at the silos, see `LabelShares`."""


LabelShares = Annotated[FloatArray | None, RunLabelShares()]
"""Annotation of that parameter: shape (silos, classes), the share of each label among the labels of each silo, of the
partition of the scenario's training; rows sum to 1. None, its default, where there is no training."""


def unseen(_share: float) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignerOption:
    """What users may set; the annotation of a keyword-only parameter holds it.

    Parameters
    ----------
    help : str
        For ``--help``, without the end of the sentence: range, choices and default are added.
    choices : tuple of str
        The values of a text. Empty where any text will do.
    above, at_least, at_most : float, optional
        Range of a number, in `unit`.
    unit : {"", "s", "bit", "bit/s"}
        Of a number. Users give a quantity that has a unit as a text, such as ``"25 ms"``.

    Examples
    --------
    >>> from typing import Annotated
    >>> Degree = Annotated[int, DesignerOption(help="Models that a silo sends in a round", at_least=1)]
    >>> def designer(graph, work, *, degree: Degree = 2): ...
    >>> [(option.name, option.value_type, option.default) for option in declared_options(designer).values()]
    [('degree', <class 'int'>, 2)]
    """

    help: str
    choices: tuple[str, ...] = ()
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: Literal["", "s", "bit", "bit/s"] = ""

    @property
    def range(self) -> str:
        """The range of a number, for instance ``> 0 and <= 1``; empty where there is none."""
        limits = ((">", self.above), (">=", self.at_least), ("<=", self.at_most))
        return " and ".join(f"{sign} {limit:g}" for sign, limit in limits if limit is not None)

    def check(self, name: str, value: Any) -> None:
        """Raise an `InputError` for a value outside the range or the choices."""
        if self.choices and value not in self.choices:
            raise unknown_name(name, value, self.choices)
        fits = (
            (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )
        if not fits:
            raise InputError(f"{name}(={value}) must be {self.range}.")


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredOption:
    """An option with what the signature says of it.

    Attributes
    ----------
    value_type : type
        ``int``, ``float`` or ``str``: what users write. Python callers may give more where the annotation is a union.
    default : object
        None where the designer chooses by itself.
    accepted : tuple of type
        All members of the annotation.
    """

    name: str
    value_type: type[int] | type[float] | type[str]
    default: Any
    accepted: tuple[type, ...]
    declaration: DesignerOption

    def check(self, value: Any, *, field: str | None = None) -> None:
        """Raise an `InputError` for a value of another type, or outside the range or the choices.

        Messages call it `field`, by default `name`.
        """
        if value is None and type(None) in self.accepted:
            return
        field = field or self.name
        types = tuple(_ABSTRACT.get(kind, kind) for kind in self.accepted)
        if isinstance(value, bool) or not isinstance(value, types):
            what = {int: "an integer", float: "a number", str: "a text"}[self.value_type]
            raise InputError(f"{field}(={quoted(value)}) must be {what}.")
        self.declaration.check(field, value)


def keyword_options(designer: Callable[..., Any]) -> tuple[str, ...]:
    """Names of all options that a designer takes in Python: its keyword-only parameters."""
    return tuple(p.name for p in _keyword_only(designer))


def seed_option(designer: Callable[..., Any]) -> str | None:
    """Name of the keyword-only parameter that is annotated as `Seed`, if there is one."""
    return _marked(designer, RunSeed)


def progress_option(designer: Callable[..., Any]) -> str | None:
    """Name of the keyword-only parameter that is annotated as `Progress`, if there is one."""
    return _marked(designer, RunProgress)


def label_shares_option(designer: Callable[..., Any]) -> str | None:
    """Name of the keyword-only parameter that is annotated as `LabelShares`, if there is one."""
    return _marked(designer, RunLabelShares)


def _marked(designer: Callable[..., Any], kind: type) -> str | None:
    """Name of the first keyword-only parameter that has a marker of this type."""
    parameters = _keyword_only(designer)
    return next((p.name for p in parameters if _marker(p.annotation, kind) is not None), None)


def declared_options(designer: Callable[..., Any]) -> dict[str, DeclaredOption]:
    """Options that a designer declares for users, by name, in the order of the signature.

    Parameters
    ----------
    designer : callable
        Its keyword-only parameters that are annotated with a `DesignerOption` are options of the command line and of
        scenarios; the others are for Python callers.

    Returns
    -------
    dict from str to DeclaredOption

    Raises
    ------
    InputError
        If an option has no default, takes neither a number nor a text, or has a name in `RESERVED`, or an annotation
        cannot be evaluated.
    """
    found = ((p, _marker(p.annotation, DesignerOption)) for p in _keyword_only(designer))
    return {
        p.name: _declared(_name(designer), p, declaration)
        for p, declaration in found
        if declaration is not None
    }


@functools.lru_cache(maxsize=256)
def _keyword_only(designer: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Keyword-only parameters; annotations that are texts are what they stand for."""
    try:
        parameters = inspect.signature(designer, eval_str=True).parameters.values()
    except Exception as error:
        # Annotations that are texts are expressions, which may raise anything.
        raise InputError(
            f"designer {_name(designer)}: its signature cannot be read: {reason(error)}."
        ) from None
    return tuple(p for p in parameters if p.kind is p.KEYWORD_ONLY)


def _name(designer: Callable[..., Any]) -> str:
    return getattr(designer, "__name__", repr(designer))


def _marker(annotation: Any, kind: type[M]) -> M | None:
    """The first part of this type in an ``Annotated``."""
    if get_origin(annotation) is not Annotated:
        return None
    return next((part for part in get_args(annotation)[1:] if isinstance(part, kind)), None)


def _declared(designer: str, parameter: inspect.Parameter, declaration: DesignerOption) -> DeclaredOption:
    """One option, checked."""
    inner = get_args(parameter.annotation)[0]
    accepted = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    written = next((kind for kind in (str, float, int) if kind in accepted), None)
    field = f"designer {designer}: option {parameter.name}"
    if written is None:
        raise InputError(f"{field} must be an int, a float or a str.")
    if parameter.name in RESERVED:
        raise InputError(f"{field} must have another name: the commands of silosim use this one.")
    if parameter.default is parameter.empty:
        raise InputError(f"{field} must have a default.")
    return DeclaredOption(
        name=parameter.name,
        value_type=written,
        default=parameter.default,
        accepted=accepted,
        declaration=declaration,
    )
