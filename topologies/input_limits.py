"""Limits of what users may hand in, all in one place; messages that refuse more name the limit."""

from topologies.errors import InputError

MOST_TOML_BYTES = 1_000_000
"""Of a TOML file: Python reads a megabyte of it in a second. Long tables are CSV files that it names."""
MOST_KEY_PARTS = 32
"""Of a dotted key: Python's reader takes time and memory by the square of them."""
MOST_NESTED = 32
"""Tables and lists of a TOML file in one another; no key of a scenario needs more than five."""
MOST_ENTRIES = 20_000
"""Of a list or table of a TOML file; thousands of wrong ones would be checked one by one."""
MOST_DIGITS = 30
"""Of an integer in a TOML file; which numbers a key takes, its own rule says."""
MOST_OVERLAYS = 1000
"""Of a scenario, each of which is designed."""
MOST_POINTS = 10_000_000
"""Of a study; a grid of a few long lists has any number of them."""
MOST_FILE_BYTES = 64_000_000
"""Of any other file of users that is read whole, so that a device or a wrong path does not fill the memory."""
MOST_GML_BYTES = 10_000_000
"""Of GML text, which its parser reads at a megabyte in a second."""
MOST_ROUTERS, MOST_LINKS = 20_000, 200_000
"""Of an underlay, whose links are read, measured and drawn one by one."""
MOST_SILOS = 5000
"""And routers of a network whose overlays are designed: all pairs have a route, a latency and a rate."""
MOST_SEARCHED_SILOS = 2000
"""Of a network on which `best` searches overlays, or `upgrade` links: on more, minutes of the processor."""
MOST_CIRCUIT_SILOS = 4000
"""Of a critical circuit that is explained arc by arc: the time is quadratic in them, two minutes on more."""
MOST_PAIRS_BYTES = 25 * MOST_SILOS**2
"""Of a file that may state a number for each pair of silos: at full precision one has 24 letters, and an end."""
MOST_MIXING_SILOS = 1000
"""Of an overlay whose spectral gap a table shows: its time is cubic in them."""

MOST_VALIDATED_STARTS = 30_000_000
"""Rounds times silos of a validation, which keeps all starts of rounds and takes about 130 bytes for each."""


def check_count(count: int, most: int, what: str, *, source: str | None = None) -> None:
    """Raise an `InputError` for more of something, such as ``"routers"``, than a limit."""
    if count > most:
        raise InputError(f"has {count:,} {what}, must have at most {most:,}.", source=source)


def check_size(data: str | bytes, most_bytes: int, source: str | None) -> None:
    """Raise an `InputError` for what was read of a file that is larger than a limit."""
    if len(data) > most_bytes:
        hint = " (long tables go into CSV files that it names)" if most_bytes == MOST_TOML_BYTES else ""
        raise InputError(f"is too large: it must have at most {most_bytes:,} bytes{hint}.", source=source)
