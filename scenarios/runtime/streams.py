"""Standard output and error that may be full, closed, or of an encoding without a name's letters."""

import codecs
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from topologies import SilosimError

_REPLACED = "silosim.replaced"
"""Name of the error handler of encodings, as `codecs` knows it."""
_LIKE = str.maketrans(
    {
        "µ": "u",
        "…": "~",
        "–": "-",
        "—": "-",
        "−": "-",
        "─": "-",
        "━": "-",
        "×": "x",
        "²": "2",
        "’": "'",
        "±": "~",
        "→": ">",
        "≥": ">",
        "≤": "<",
    }
)
"""Letters and signs of tables in encodings that lack them, each of one column."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


class OutputError(SilosimError):
    """Standard output cannot be written, for instance on a full disk."""


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Within it standard output and error never fail with a traceback, and take every character.

    Raises
    ------
    OutputError
        Where something is written or flushed, if standard output cannot be written. Where its reader has left
        (``| head``), the rest is dropped and the command goes on, as its files may be wanted; so is what standard
        error cannot take.

    Notes
    -----
    A character that the encoding lacks becomes one that looks like it, or a question mark; standard error keeps its
    escapes. Streams that are not those of the process, as in a test, stay as they are.
    """
    codecs.register_error(_REPLACED, _replaced)
    out, err = sys.stdout, sys.stderr
    sys.stdout = _guarded(out, sys.__stdout__, _Output, _REPLACED)
    sys.stderr = _guarded(err, sys.__stderr__, _Messages, "backslashreplace")
    try:
        yield
    finally:
        # Not closed: handlers of logging may keep them.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, _Output):
                with suppress(OutputError):
                    stream.flush()
        sys.stdout, sys.stderr = out, err


def printable_json(text: str) -> str:
    """JSON as standard output can show it: with escapes where its encoding lacks a character.

    Examples
    --------
    >>> printable_json('{"label": "Zurich"}')
    '{"label": "Zurich"}'
    """
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return _BEYOND_ASCII.sub(_escaped, text)
    return text


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON escapes it: those beyond 16 bits by two surrogates."""
    pairs = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{pairs[at : at + 2].hex()}" for at in range(0, len(pairs), 2))


class _Output(io.TextIOWrapper):
    """A stream whose failures are an `OutputError`, but for a reader that has left."""

    def write(self, text: str, /) -> int:
        """Write a text."""
        try:
            return super().write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        """Hand what was written to the system."""
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Drop what is written from now on, so that the interpreter's last flush does not fail either."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError) and self._is_needed:
            raise OutputError(f"standard output cannot be written: {error.strerror}.") from None

    _is_needed = True


class _Messages(_Output):
    """As `_Output`, and no failure ends the command."""

    _is_needed = False


def _guarded(stream: IO[str], own: IO[str] | None, kind: type[_Output], errors: str) -> IO[str]:
    """The stream of this process as one of this kind; another as it is, None, too."""
    if stream is None or stream is not own or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    raw = open(stream.fileno(), "wb", closefd=False)  # noqa: SIM115 - closed by the stream
    return kind(raw, stream.encoding, errors, line_buffering=stream.line_buffering)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """What is written in place of characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    alike = error.object[error.start : error.end].translate(_LIKE)
    return "".join(letter if letter.isascii() else "?" for letter in alike), error.end
