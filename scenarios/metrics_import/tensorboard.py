"""Scalars of a run's TensorBoard event files, without what a restart has replaced."""

import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from scenarios.metrics_import.event_checksum import masked_crc32c
from topologies import InputError, MachineError
from topologies.regular_files import regular, unreadable

_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_MOST_BYTES = 2**30
_KINDS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
"""NumPy's name of a tensor's type, by its number in TensorFlow's types.proto."""
_START = 1
"""``SessionLog.START`` in TensorFlow's event.proto."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scalars:
    """Values of one tag, in the order in which they were written.

    Parameters
    ----------
    steps : array of int
    values : array of float
    files, records : array of int
        Place of the file in the run, and the record's number in it, from 1.
    """

    steps: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    files: "array[int]" = field(default_factory=lambda: array("q"))
    records: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, step: int, value: float, file: int, record: int) -> None:
        """Append one value."""
        self.steps.append(step)
        self.values.append(value)
        self.files.append(file)
        self.records.append(record)

    def drop_from(self, step: int) -> int:
        """Remove values of this step and later ones, and return how many there were."""
        if not self.steps or max(self.steps) < step:
            return 0
        kept = [place for place, other in enumerate(self.steps) if other < step]
        dropped = len(self.steps) - len(kept)
        for whole in (self.steps, self.files, self.records):
            whole[:] = array("q", [whole[place] for place in kept])
        self.values[:] = array("d", [self.values[place] for place in kept])
        return dropped


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunScalars:
    """Scalars of a run.

    Parameters
    ----------
    files : sequence of Path
        In the order of their creation.
    tags : dict from tag to Scalars
    notes : tuple of str
        Sentences on files that are cut short and on restarts.
    """

    files: Sequence[Path]
    tags: dict[str, Scalars]
    notes: tuple[str, ...]


def read_scalars(files: Sequence[Path]) -> RunScalars:
    """Scalars of the event files of one run.

    Parameters
    ----------
    files : sequence of Path
        In any order.

    Returns
    -------
    RunScalars

    Raises
    ------
    InputError
        If a file cannot be read, or a record is damaged. A last record that is cut short is passed over: its writer was
        killed.
    MachineError
        If tensorboardX, which knows the records' format, is not installed.

    Notes
    -----
    A record is its length, the checksum of that, the data and their checksum (``tensorflow/core/lib/io``); the data
    are a protobuf message ``Event``. PyTorch and TensorFlow 1 write a scalar as ``simple_value``, TensorFlow 2 as a
    tensor without dimensions.

    A run that was killed and restarted from a checkpoint repeats steps. What is dropped follows TensorBoard
    (``purge_orphaned_data`` in ``tensorboard/backend/event_processing/event_accumulator.py``): at ``SessionLog.START``
    all values of its step and later ones; in files without a version, or with one before 2, at a step below the last
    one those of the same tags, until that last step is reached again. Files are in the order of their first events'
    time, as TensorBoard has them by the time in their names. TensorBoard draws both values of a step where a new file
    begins again without ``START``, as PyTorch's does without ``purge_step``; a round has one value, so here a tag's
    first value in a later file replaces that tag's values of its step and later ones.

    Time is linear in the records and restarts; memory is 32 bytes for each value.
    """
    parse = _parser()
    ordered = sorted(files, key=lambda file: (_created(file, parse), file.name))
    tags: dict[str, Scalars] = {}
    notes: list[str] = []
    version, last_step = 0.0, -1
    for place, file in enumerate(ordered):
        begun: set[str] = set()
        restarts: list[int] = []
        dropped = 0
        with _opened(file) as stream:
            records = _Records(stream, str(file))
            for number, data in enumerate(records, start=1):
                event = parse(data, f"{file}, record {number}")
                version = max(version, _version(event.file_version))
                summary = event.summary.value
                over: list[str] = []
                if event.session_log.status == _START:
                    over = [*tags]
                elif version < 2 and summary and event.step < last_step:
                    over = [value.tag for value in summary if value.tag in tags]
                else:
                    last_step = event.step
                    over = [
                        value.tag
                        for value in summary
                        if place and value.tag not in begun and value.tag in tags
                    ]
                lost = sum(tags[tag].drop_from(event.step) for tag in over)
                dropped += lost
                restarts += [event.step] if lost else []
                for value in summary:
                    scalar = _scalar(value)
                    if scalar is not None:
                        begun.add(value.tag)
                        tags.setdefault(value.tag, Scalars()).add(event.step, scalar, place, number)
        if records.is_cut:
            notes.append(f"{file} is cut short: its {records.whole} whole records are read.")
        if dropped:
            values = "1 earlier value" if dropped == 1 else f"{dropped} earlier values"
            notes.append(
                f"{file} goes on from step {min(restarts)}: {values} of that step and later ones are replaced."
            )
    return RunScalars(
        files=ordered, tags={tag: some for tag, some in tags.items() if some.steps}, notes=tuple(notes)
    )


def _opened(file: Path) -> BinaryIO:
    """The file, to be read."""
    try:
        return regular(file).open("rb")
    except OSError as error:
        raise unreadable(file, error) from None


def _created(file: Path, parse: Any) -> float:
    """Time of a file's first event, which its writer adds at once."""
    with _opened(file) as stream:
        data = next(iter(_Records(stream, str(file))), None)
    return 0.0 if data is None else float(parse(data, f"{file}, record 1").wall_time)


def _version(text: str) -> float:
    """Number in ``brain.Event:2``, 0 without one."""
    number = text.removeprefix("brain.Event:")
    return float(number) if number.isdecimal() else 0.0


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


class _Records:
    """Walk through the data of whole records.

    Parameters
    ----------
    stream : file
    file : str
        For error messages.
    """

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self._stream = stream
        self._file = file
        self.whole = 0
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        read = self._stream.read
        while len(head := read(_HEAD.size)) == _HEAD.size:
            size, checksum = _HEAD.unpack(head)
            if masked_crc32c(head[:8]) != checksum or size > _MOST_BYTES:
                raise InputError("is damaged, or not of a TensorBoard event file.", source=self._next)
            data, tail = read(size), read(_CHECKSUM.size)
            if len(tail) < _CHECKSUM.size:
                self.is_cut = True
                return
            if masked_crc32c(data) != _CHECKSUM.unpack(tail)[0]:
                raise InputError("is damaged: its checksum is wrong.", source=self._next)
            self.whole += 1
            yield data
        self.is_cut = bool(head)

    @property
    def _next(self) -> str:
        """The record that is read, for error messages."""
        return f"{self._file}, record {self.whole + 1}"


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
