"""Options of designers as users write them: in ``[overlays.<kind>]`` of a scenario, and on the command line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenarios.config.kinds import all_kinds, check_kinds, designer_of
from topologies import InputError, SilosimError
from topologies.arrays import FloatArray
from topologies.designers.options import (
    DeclaredOption,
    declared_options,
    label_shares_option,
    progress_option,
    seed_option,
)
from topologies.errors import unknown_name
from topologies.quantities import parse_quantity

Written = int | float | str
"""A value as in TOML; a quantity is a text."""
WrittenOptions = Mapping[str, Mapping[str, Written]]
"""By kind of overlay, then by name of the option."""


def designer_options(kind: str) -> dict[str, DeclaredOption]:
    """Options that the designer of a kind declares, by name.

    Parameters
    ----------
    kind : str
        One of `scenarios.config.kinds.all_kinds`.

    Raises
    ------
    InputError, MachineError
        If the designer comes from another package and cannot be used.
    """
    return declared_options(designer_of(kind))


def seed_values(kind: str, seed: int) -> dict[str, int]:
    """The seed by the name of the option that takes it; empty where the designer of a kind takes none."""
    name = seed_option(designer_of(kind))
    return {} if name is None else {name: seed}


def progress_values(kind: str, progress: Callable[[float], None]) -> dict[str, Callable[[float], None]]:
    """What is called with the share that is done, by the name of the option that takes it; empty as `seed_values`."""
    name = progress_option(designer_of(kind))
    return {} if name is None else {name: progress}


def takes_label_shares(kind: str) -> bool:
    """Whether the designer of a kind asks for the shares of labels at the silos."""
    return label_shares_option(designer_of(kind)) is not None


def label_share_values(kind: str, shares: Callable[[], FloatArray]) -> dict[str, FloatArray]:
    """The shares of labels by the name of the option that takes them; `shares` is called only if there is one."""
    name = label_shares_option(designer_of(kind))
    return {} if name is None else {name: shares()}


def options_by_name(kinds: Iterable[str]) -> dict[str, dict[str, DeclaredOption]]:
    """Options of several designers, by their name, then by kind.

    A designer of another package that cannot be used is left out: it is an error where its kind is asked for.
    """
    found: dict[str, dict[str, DeclaredOption]] = {}
    for kind in kinds:
        try:
            declared = designer_options(kind)
        except SilosimError:
            continue
        for name, option in declared.items():
            found.setdefault(name, {})[kind] = option
    return found


def check_option_kinds(options: WrittenOptions, kinds: Sequence[str]) -> None:
    """Raise an `InputError` for options of a kind that is not among those asked for."""
    for kind in options:
        if kind not in kinds:
            raise InputError(f"{kind} has options, but is not in kinds(={list(kinds)}).")


def read_options(kinds: Sequence[str], given: Mapping[str, str]) -> dict[str, dict[str, Written]]:
    """Options from the command line: each goes to all kinds that have it.

    Parameters
    ----------
    kinds : sequence of str
        The kinds that the user asks for.
    given : mapping from option to str

    Returns
    -------
    dict from kind to dict

    Raises
    ------
    InputError
        If a kind is unknown, no kind has an option, or a value is wrong.
    """
    check_kinds("overlay kind", kinds)
    read: dict[str, dict[str, Written]] = {}
    for name, text in given.items():
        takers = options_by_name(all_kinds())[name]
        chosen = [kind for kind in kinds if kind in takers]
        if not chosen:
            shown = _from_text(next(iter(takers.values())), text)
            *others, last = takers
            having = f"{', '.join(others)} or {last}" if others else last
            asked = f"not with {', '.join(kinds)}" if kinds else "but no designer is asked for"
            raise InputError(f"{name}(={shown!r}) goes with the kind {having}, {asked}.")
        for kind in chosen:
            value = _from_text(takers[kind], text)
            option_value(takers[kind], value)
            read.setdefault(kind, {})[name] = value
    return read


def option_values(kind: str, written: Mapping[str, Written]) -> dict[str, Any]:
    """Values of a designer's options, quantities as numbers.

    Parameters
    ----------
    kind : str
    written : mapping from option to value

    Raises
    ------
    InputError
        If the designer has no such option, or a value is wrong. Fields are named ``kind.option``.
    """
    declared = designer_options(kind) if written else {}
    values = {}
    for name, value in written.items():
        if name not in declared:
            if not declared:
                raise InputError(f"{kind} has no options, but {name} is given.")
            raise unknown_name(f"{kind}: option", name, declared)
        values[name] = option_value(declared[name], value, field=f"{kind}.{name}")
    return values


def option_value(option: DeclaredOption, written: Written, *, field: str | None = None) -> Any:
    """Value of one option, checked."""
    field = field or option.name
    unit = option.declaration.unit
    value = parse_quantity(field, written, unit, zero=True) if unit else written
    option.check(value, field=field)
    return value


def _from_text(option: DeclaredOption, text: str) -> Written:
    """What a text on the command line would be in TOML."""
    if option.value_type is str or option.declaration.unit:
        return text
    try:
        return option.value_type(text)
    except ValueError:
        what = "an integer" if option.value_type is int else "a number"
        raise InputError(f"{option.name}(={text!r:.60}) must be {what}.") from None
