"""Standard output that is full, closed or of another encoding: one line or none, and no traceback."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.cli.commands import SUMMARIES
from scenarios.runtime import streams
from scenarios.runtime.launcher import exit_code
from scenarios.runtime.streams import OutputError, guarded_streams, printable_json

FULL = Path("/dev/full")
GML = """graph [ node [ id 0 label "Zürich" lon 8.5 lat 47.4 ] node [ id 1 label "東京 𝄞" lon 9.0 lat 47.0 ]
edge [ source 0 target 1 ] ]"""
SAID = "silosim: error: standard output cannot be written: No space left on device.\n"


@pytest.fixture
def stream_to(monkeypatch: pytest.MonkeyPatch):
    """Make a stream of a file or descriptor standard output, or another, as that of a process."""
    opened: list[io.TextIOWrapper] = []

    def change(file: object, name: str = "stdout", encoding: str = "utf-8") -> None:
        stream = open(file, "w", encoding=encoding)  # noqa: SIM115
        opened.append(stream)
        monkeypatch.setattr(sys, name, stream)
        monkeypatch.setattr(sys, f"__{name}__", stream)

    yield change
    for stream in opened:
        stream.close()


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("text", ["short\n", "long\n" * 100_000])
def test_a_full_disk_is_an_error_of_one_line(stream_to, text):
    stream_to(FULL)
    full = pytest.raises(OutputError, match=r"^standard output cannot be written: No space left on device\.$")
    with full, guarded_streams():
        print(text, flush=True)
    assert exit_code(OutputError("")) == 1


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", [(), *((name,) for name in SUMMARIES)], ids=lambda names: "".join(names))
def test_the_help_of_every_command_needs_standard_output(silosim, stream_to, command):
    stream_to(FULL)
    result = silosim(*command, "--help")

    assert (result.code, result.err) == (1, SAID)


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "command",
    [
        ("--version",),
        ("underlay", "gaia"),
        ("underlay", "gaia", "--json"),
        ("study", "paper-fig3a", "--toml"),
    ],
    ids=" ".join,
)
def test_what_a_command_prints_needs_standard_output(silosim, stream_to, command):
    stream_to(FULL)
    result = silosim(*command)

    assert (result.code, result.err) == (1, SAID)


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_message_that_is_lost_ends_no_command(stream_to):
    stream_to(FULL, "stderr")
    with guarded_streams():
        for _ in range(3):
            print("a message", file=sys.stderr, flush=True)


def test_a_reader_that_left_ends_no_command(silosim, stream_to, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    stream_to(writer)
    result = silosim("underlay", "gaia", "-o", tmp_path / "map.svg").ok()

    assert result.err == f"written: {tmp_path / 'map.svg'}\n"
    assert (tmp_path / "map.svg").exists()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_the_encoding_lacks_are_replaced(silosim, stream_to, tmp_path, encoding):
    (tmp_path / "n.gml").write_text(GML, encoding="utf-8")
    stream_to(tmp_path / "out", encoding=encoding)
    silosim("underlay", tmp_path / "n.gml", "--json").ok()
    written = (tmp_path / "out").read_text(encoding)
    # JSON keeps every letter.
    assert "東京 𝄞" in json.dumps(json.loads(written), ensure_ascii=False)

    stream_to(tmp_path / "table", encoding=encoding)
    silosim("explain", tmp_path / "n.gml", "--kind", "ring", "--model-size", "10 kB").ok()
    table = (tmp_path / "table").read_text(encoding)
    assert "?? ?" in table
    assert ("Zürich" if encoding == "latin-1" else "Z?rich") in table


def test_signs_of_tables_have_others_of_their_width():
    with guarded_streams():
        signs = "µ…─"
        assert signs.encode("ascii", streams._REPLACED) == b"u~-"
        assert signs.encode("latin-1", streams._REPLACED) == b"\xb5~-"
        assert "\udcff".encode("utf-8", streams._REPLACED) == b"?"


def test_json_is_escaped_only_where_it_must_be(stream_to, tmp_path):
    whole = '{"a": "é𝄞"}'
    stream_to(tmp_path / "utf-8")
    assert printable_json(whole) == whole
    stream_to(tmp_path / "ascii", encoding="ascii")
    assert printable_json(whole) == '{"a": "\\u00e9\\ud834\\udd1e"}'
    assert json.loads(printable_json(whole)) == {"a": "é𝄞"}


def test_streams_that_are_not_those_of_the_process_stay():
    before = sys.stdout, sys.stderr
    with guarded_streams():
        assert (sys.stdout, sys.stderr) == before


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["underlay", "gaia"], ["design", "gaia", "--json"], ["doctor"]]
)
def test_a_process_says_one_line_and_nothing_of_its_end(arguments):
    """The interpreter's own last flush is part of it, so that it takes a process."""
    call = [sys.executable, "-c", "from scenarios.cli.main import main; main()", *arguments]
    with FULL.open("w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, SAID)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C"},
    ],
)
def test_a_process_with_another_locale_prints_all_names(tmp_path, settings):
    (tmp_path / "n.gml").write_text(GML, encoding="utf-8")
    call = [sys.executable, "-c", "from scenarios.cli.main import main; main()", "design", "n.gml"]
    call += ["--model-size", "10 kB", "--kind", "star"]
    done = subprocess.run(
        call, env={**os.environ, **settings}, cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"star" in done.stdout
