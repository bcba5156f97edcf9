"""Files that are no plain UTF-8 text: compressed ones, those with byte order marks, pipes."""

import bz2
import gzip
import io
import lzma
import os
import zipfile

import pytest

from topologies import InputError, load_underlay
from topologies.networks.csv_table import read_table
from topologies.networks.gml import parse_gml
from topologies.networks.graphml import parse_graphml
from topologies.networks.node_link import parse_node_link
from topologies.networks.sndlib_demands import parse_sndlib_demands
from topologies.plain_text import open_utf8, utf8_text

TEXT = b"round,loss\n1,0.5\n"


def zipped(name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, TEXT)
    return content.getvalue()


COMPRESSED = {
    "gzip": gzip.compress(TEXT),
    "zip": zipped("m.csv"),
    "xz": lzma.compress(TEXT),
    "zstd": b"\x28\xb5\x2f\xfd\x04\x58",
    "bzip2": bz2.compress(TEXT),
}


@pytest.mark.parametrize("program", COMPRESSED)
@pytest.mark.parametrize(
    "read",
    [
        parse_gml,
        parse_graphml,
        parse_node_link,
        parse_sndlib_demands,
        utf8_text,
        lambda data: read_table(data, "t.csv"),
    ],
)
def test_what_is_compressed_is_named(program, read):
    with pytest.raises(InputError, match=rf"is compressed by {program}: unpack it first\.$"):
        read(COMPRESSED[program])


def test_a_network_by_the_ending_of_its_compression(tmp_path):
    (tmp_path / "n.gml.gz").write_bytes(COMPRESSED["gzip"])

    with pytest.raises(InputError, match=r"n\.gml\.gz: is compressed by gzip: unpack it first\.$"):
        load_underlay(tmp_path / "n.gml.gz")


def test_workbooks_are_zips_with_an_advice_of_their_own():
    with pytest.raises(InputError, match="is a workbook, must be a table as text"):
        read_table(zipped("[Content_Types].xml"), "t.csv")


@pytest.mark.parametrize("read", [parse_gml, parse_node_link, utf8_text])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named(read, encoding):
    with pytest.raises(InputError, match=r"is UTF-16 text, must be UTF-8: save it in that encoding\.$"):
        read("\ufeff{}".encode(encoding))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfa\r\nb\n")

    assert utf8_text(b"\xef\xbb\xbfa\r\nb\n") == "a\r\nb\n"
    with open_utf8(tmp_path / "t") as file:
        assert list(file) == ["a\r\n", "b\n"]


def test_a_toml_file_of_tables_with_a_byte_order_mark(tmp_path):
    (tmp_path / "sites.csv").write_text("name,latitude,longitude\nA,48,2\nB,50,3\n")
    (tmp_path / "links.csv").write_text("from,to\nA,B\n")
    (tmp_path / "n.toml").write_text('sites = "sites.csv"\nlinks = "links.csv"\n', encoding="utf-8-sig")

    assert load_underlay(tmp_path / "n.toml").labels == ("A", "B")


def test_a_pipe_is_one_answer(tmp_path):
    os.mkfifo(tmp_path / "n.gml")

    with pytest.raises(InputError, match=r"it is a pipe; write what comes out of it to a file first\.$"):
        load_underlay(tmp_path / "n.gml")
