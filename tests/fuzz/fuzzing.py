"""Gives generated files to a reader, and says which of them end in more than one line of error."""

import re
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from readers import Reader
from values import Draw, mutated

from topologies import SilosimError

HANG_S = 5.0
_SYNTAX = re.compile(
    r"not valid TOML|is not a GML file|is not (a )?(valid )?(GraphML|JSON|XML)|not UTF-8|UTF-8 text"
)


class Hang(BaseException):
    """A reader took longer than `HANG_S`."""


@dataclass(kw_only=True)
class Outcome:
    """What became of the inputs of a reader.

    Attributes
    ----------
    inputs, read, past_syntax : int
        How many there were, were read without an error, and were refused for more than their syntax or read.
    findings : dict
        The first input of each place in the code at which one failed, by that place.
    """

    inputs: int = 0
    read: int = 0
    past_syntax: int = 0
    findings: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        share = 100 / max(self.inputs, 1)
        return (
            f"{self.inputs:,} inputs, {share * self.past_syntax:.0f} % past the syntax, "
            f"{share * self.read:.0f} % read, {len(self.findings)} findings"
        )


def generated(name: str, reader: Reader, number: int) -> bytes:
    """The input of a reader with this number: the same whenever it is made.

    Of five, three have the structure of the format, with some odd values, one is mutated, one is plain and mutated.
    """
    draw = Draw(f"{name} {number}")
    kind = number % 5
    draw.odd = (0.005, 0.02, 0.15, 0.005, 0.0)[kind]
    data = reader.make(draw)
    return mutated(draw, data) if kind > 2 else data


def problem(reader: Reader, data: bytes, path: Path, outcome: Outcome | None = None) -> str:
    """Where a reader fails on an input: empty where it reads it or refuses it in one line."""
    # A new file: what replaces the content of one is written to the disk when it is closed, which takes 2.7 ms.
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    counted = outcome or Outcome()
    counted.inputs += 1
    try:
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("error")
            reader.read(path)
    except SilosimError as error:
        counted.past_syntax += not _SYNTAX.search(str(error))
        return "" if len(str(error).splitlines()) == 1 else f"{len(str(error).splitlines())} lines: {error!r}"
    except UnicodeDecodeError as error:
        if type(error.object) is bytes and error.object == data:
            return ""  # what `read_utf8` refuses before the readers of TOML texts
        return _place(error)
    except (Exception, Hang) as error:
        return _place(error)
    counted.read += 1
    counted.past_syntax += 1
    return ""


def fuzzed(name: str, reader: Reader, numbers: range, folder: Path) -> Outcome:
    """Give a reader the inputs of these numbers."""
    outcome = Outcome()
    path = folder / reader.file
    for number in numbers:
        data = generated(name, reader, number)
        if place := problem(reader, data, path, outcome):
            outcome.findings.setdefault(place, data)
    return outcome


def _place(error: BaseException) -> str:
    """Type of an error and the last line of silosim's that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if "/tests/" not in frame.filename and "site-packages" not in frame.filename
    ]
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    inside = [
        frame for frame in frames if re.search(r"/(topologies|scenarios|training|simulator)/", frame.filename)
    ]
    last = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else where
    return f"{type(error).__name__} at {last}"


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `Hang` in what takes too long."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
