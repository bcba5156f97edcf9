"""The scenario that a file of results holds, as tables: anybody may have changed the text."""

from typing import Any

from topologies import InputError
from topologies.errors import Field
from topologies.toml_text import parse_toml

_TABLES = ("network", "workload", "simulation", "training", "imported")


def recorded_tables(text: str) -> dict[str, Any]:
    """Read the scenario of a file of results, whatever is installed here.

    Parameters
    ----------
    text : str
        TOML. Of a validation it may be empty.

    Returns
    -------
    dict
        What readers take for a table is one.

    Raises
    ------
    InputError
        As `topologies.toml_text.parse_toml`, or if a value stands where a table must be.
    """
    tables = parse_toml(text)
    for name in _TABLES:
        if not isinstance(tables.get(name, {}), dict):
            raise InputError("must be a table.", field=Field(name, value=tables[name]))
    return tables
