"""Seeds that the file of a run can hold."""

from topologies import InputError
from topologies.errors import Field


def check_seed(seed: int) -> int:
    """Accept a seed that the file of a run can hold."""
    if not 0 <= seed < 2**63:
        raise InputError("must be >= 0 and < 2^63.", field=Field("seed", value=seed))
    return seed
