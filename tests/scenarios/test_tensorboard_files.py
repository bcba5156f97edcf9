"""Records of TensorBoard, against the published checksums and the reader of another program."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tensorboardX import record_writer
from tensorboardX.proto.event_pb2 import Event

from scenarios.export.tensorboard_files import EventFile
from scenarios.metrics_import.event_checksum import crc32c, masked_crc32c
from scenarios.metrics_import.tensorboard import _Records


def test_the_checksum_is_that_of_rfc_3720():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(st.binary(max_size=300))
def test_the_mask_is_that_of_another_writer(data):
    assert masked_crc32c(data) == record_writer.masked_crc32c(data)


@given(
    st.integers(0, 2**63 - 1),
    st.floats(0, 1e15),
    st.dictionaries(st.text(), st.floats(width=32, allow_nan=False), min_size=1, max_size=4),
)
def test_what_is_written_is_read_by_another_program(tmp_path_factory, step, wall_time_s, scalars):
    path = tmp_path_factory.mktemp("events") / "a" / "tfevents"
    file = EventFile(path)
    file.write(step, wall_time_s, scalars | {"missing": np.nan})
    file.write(step, wall_time_s, {"missing": np.nan})
    file.close()
    with path.open("rb") as stream:
        head, event = map(Event.FromString, _Records(stream, "x"))

    assert (head.file_version, head.wall_time) == ("brain.Event:2", 0.0)
    assert (event.step, event.wall_time) == (step, wall_time_s)
    assert {value.tag: value.simple_value for value in event.summary.value} == scalars
