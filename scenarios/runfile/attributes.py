"""What the texts in the attributes of a file of results must be, so that no reader meets another one."""

import json
from collections.abc import Mapping
from typing import Any

from scenarios.config.recorded_tables import recorded_tables
from topologies import InputError
from topologies.errors import Field


def check_attributes(attrs: Mapping[str, Any]) -> None:
    """Check the scenario, the network and the versions that a file of results holds.

    Parameters
    ----------
    attrs : mapping from str
        Root attributes of the file of a run or validation.

    Raises
    ------
    InputError
        For the first one that no reader takes.
    KeyError
        If the scenario or the network is missing.
    """
    for name in ("scenario", "network", "about"):
        if not isinstance(attrs[name], str):
            raise InputError(f"attribute {name} must be a text.")
    try:
        recorded_tables(attrs["scenario"])
    except InputError as error:
        raise InputError(f"attribute scenario: {error}") from None
    for name in ("network", "library_versions"):
        json_attribute(attrs, name)


def json_attribute(attrs: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the JSON object that an attribute holds, an empty one where there is none.

    Raises
    ------
    InputError
        If it holds anything else.
    """
    return json_object(str(attrs.get(name, "{}")), f"attribute {name}")


def json_object(text: str, what: str) -> dict[str, Any]:
    """Return the JSON object of a text that is called so in messages.

    Raises
    ------
    InputError
        If it is anything else, or nested thousands deep, or has a number of thousands of digits.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("must be a JSON object.", field=Field(what, value=text[:_SHOWN]))
    return found


_SHOWN = 40
