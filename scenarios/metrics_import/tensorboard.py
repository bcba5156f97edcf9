"""Scalars of TensorBoard event files."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from topologies import InputError, MachineError

STEP = "step"
_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_MOST_BYTES = 2**30
_KINDS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
"""NumPy's name of a tensor's type, by its number in TensorFlow's types.proto."""


def read_events(path: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Scalars of an event file, or of all event files in a folder, in the order of their names.

    Parameters
    ----------
    path : Path

    Yields
    ------
    source : str
        File and record, for error messages.
    scalars : dict from str to float
        The tag's name with its value, and `STEP`.

    Raises
    ------
    InputError
        If there is no event file, or a record is damaged. A last record that is cut short is passed over: its writer
        was killed.
    MachineError
        If tensorboardX, which knows the records' format, is not installed.

    Notes
    -----
    A record is its length, the checksum of that, the data and their checksum (``tensorflow/core/lib/io``); the data
    are a protobuf message ``Event``. PyTorch and TensorFlow 1 write a scalar as ``simple_value``, TensorFlow 2 as a
    tensor without dimensions.
    """
    parse = _parser()
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if "tfevents" in file.name and file.is_file())
        if not files:
            raise InputError("has no TensorBoard event file (*tfevents*).", source=str(path))
    for file in files:
        with file.open("rb") as stream:
            for number, data in enumerate(_records(stream, str(file)), start=1):
                source = f"{file}, record {number}"
                event = parse(data, source)
                for value in event.summary.value:
                    scalar = _scalar(value)
                    if scalar is not None:
                        yield source, {STEP: event.step, value.tag: scalar}


def _parser() -> Any:
    """Function from the bytes of a record, and its name for messages, to an Event."""
    try:
        from google.protobuf.message import DecodeError
        from tensorboardX.proto.event_pb2 import Event
    except ImportError:
        raise MachineError(
            "TensorBoard's files need tensorboardX, which is not installed; run: pip install 'silosim[tensorboard]'"
        ) from None

    def parse(data: bytes, source: str) -> Any:
        try:
            return Event.FromString(data)
        except DecodeError:
            raise InputError("is not an event of TensorBoard.", source=source) from None

    return parse


def _records(stream: BinaryIO, file: str) -> Iterator[bytes]:
    """Data of each whole record."""
    from tensorboardX.record_writer import masked_crc32c

    number = 0
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        number += 1
        size, checksum = _HEAD.unpack(head)
        if masked_crc32c(head[:8]) != checksum or size > _MOST_BYTES:
            raise InputError(
                "is damaged, or not of a TensorBoard event file.", source=f"{file}, record {number}"
            )
        data, tail = stream.read(size), stream.read(_CHECKSUM.size)
        if len(tail) < _CHECKSUM.size:
            return
        if masked_crc32c(data) != _CHECKSUM.unpack(tail)[0]:
            raise InputError("is damaged: its checksum is wrong.", source=f"{file}, record {number}")
        yield data


def _scalar(value: Any) -> float | None:
    """The number of a summary's value; None for an image, a histogram or a text."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor") or value.tensor.tensor_shape.dim:
        return None
    tensor = value.tensor
    if tensor.tensor_content and tensor.dtype in _KINDS:
        return float(np.frombuffer(tensor.tensor_content, dtype=_KINDS[tensor.dtype])[0])
    for numbers in (tensor.float_val, tensor.double_val, tensor.int_val, tensor.int64_val):
        if len(numbers) == 1:
            return float(numbers[0])
    return None
