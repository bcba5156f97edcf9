"""Several seeds of a scenario, and its text with one of them."""

from scenarios.config.scenario import read_toml
from scenarios.config.seed import check_seed
from scenarios.config.toml import tables_text
from topologies import InputError
from topologies.errors import Field


def seeds_of(text: str, first: int) -> tuple[int, ...]:
    """Seeds of an option: their number, or a list with commas.

    Parameters
    ----------
    text : str
        ``"5"``, five seeds from `first` on, or ``"1,2,7"``; ``"7,"`` is seed 7 alone.
    first : int
        The scenario's seed.

    Raises
    ------
    InputError
        If the text is neither, or a seed is there twice or out of range.

    Examples
    --------
    >>> seeds_of("3", 10), seeds_of("1,2,7", 10)
    ((10, 11, 12), (1, 2, 7))
    """
    field = Field("seeds", value=text)
    words = [word.strip() for word in text.split(",")]
    if len(words) > 1 and not words[-1]:
        words.pop()
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise InputError("must be a number of seeds, or seeds with commas: '1,2,7'.", field=field)
    numbers = tuple(map(int, words))
    if "," not in text:
        if not 1 <= numbers[0] <= MOST_SEEDS:
            raise InputError(f"must be >= 1 and <= {MOST_SEEDS}.", field=field)
        numbers = tuple(range(first, first + numbers[0]))
    if len(set(numbers)) < len(numbers):
        raise InputError("must name each seed once.", field=field)
    for seed in numbers:
        check_seed(seed)
    return numbers


MOST_SEEDS = 1000
"""More are a slip: each trains the whole scenario."""


def with_seed(text: str, seed: int, *, source: str) -> str:
    """Return the TOML text of a scenario with another seed; comments are lost."""
    return tables_text({**read_toml(text, source), "seed": seed})
