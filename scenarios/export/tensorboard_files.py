"""TensorBoard event files of scalars, written without TensorBoard."""

import struct
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import BinaryIO

import numpy as np

from scenarios.metrics_import.event_checksum import masked_crc32c

EVENTS = "events.out.tfevents.0.silosim"
"""Name of an event file; TensorBoard knows it by ``tfevents``."""
_DOUBLE, _TEXT, _FLOAT = 1, 2, 5
"""How a field of a protobuf message is encoded: its wire type."""


class EventFile:
    """An event file.

    Parameters
    ----------
    path : Path
        Replaced if it exists.

    Notes
    -----
    A record is its length, the masked CRC-32C of that, the data and their masked CRC-32C
    (``tensorflow/core/lib/io/record_writer.cc``); the data are a protobuf message ``Event``
    (``tensorflow/core/util/event.proto``), whose scalars are float32, as TensorBoard's own.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = path.open("wb")
        self._write(_number(1, 0.0) + _bytes(3, b"brain.Event:2"))

    def write(self, step: int, wall_time_s: float, scalars: Mapping[str, float]) -> None:
        """Add the scalars of a step, by tag, as one event; NaN, which was not measured, is left out."""
        # A number too large for float32 is infinite, as it is in TensorBoard.
        with np.errstate(over="ignore"):
            values = b"".join(
                _bytes(1, _bytes(1, tag.encode()) + _key(2, _FLOAT) + np.float32(value).tobytes())
                for tag, value in scalars.items()
                if not isnan(value)
            )
        if values:
            self._write(_number(1, wall_time_s) + _key(2, 0) + _varint(step) + _bytes(5, values))

    def flush(self) -> None:
        """Let others read what was added."""
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()

    def _write(self, event: bytes) -> None:
        """Add a record."""
        head = struct.pack("<Q", len(event))
        checksums = (struct.pack("<I", masked_crc32c(data)) for data in (head, event))
        self._file.write(head + next(checksums) + event + next(checksums))


def _key(field: int, wire: int) -> bytes:
    """Number and wire type of a field of a message."""
    return _varint(field << 3 | wire)


def _number(field: int, value: float) -> bytes:
    """A field of type double."""
    return _key(field, _DOUBLE) + struct.pack("<d", value)


def _bytes(field: int, data: bytes) -> bytes:
    """A text, or a message within another one."""
    return _key(field, _TEXT) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    """A non-negative integer, seven bits in each byte, the lowest first."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
