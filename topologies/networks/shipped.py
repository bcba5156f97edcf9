"""Files of the package, and which networks are published ones."""

import importlib.resources

PUBLISHED = ("gaia", "aws_na", "geant", "exodus", "ebone")
"""Networks that published tables are of."""


def shipped_data(file: str) -> bytes:
    """Bytes of a file of the package."""
    return importlib.resources.files("topologies").joinpath("data", file).read_bytes()
