"""Which files make a network, what it is called, and messages about their paths."""

from pathlib import Path

import numpy as np
import pytest

from topologies import InputError, load_underlay
from topologies.networks.files import is_nowhere, shown
from topologies.networks.network_files import (
    NetworkFiles,
    files_in,
    folder_name,
    is_network_file,
    read_files,
    stated_by_pairs,
)

PAIRS = "from,to,mbps,ms\na,b,1,1\nb,a,1,1\n"
BANDWIDTH, TIMES = "Mbps,a,b\na,,1\nb,1,\n", ",a,b\na,,30 ms\nb,40 ms,\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bandwidth.csv").write_text(BANDWIDTH)
    return tmp_path


ROUND_TRIPS = """rtt rttms rttmatrix RTTs rtt2024 latency_rtt latencyRTT latency-rtts ping pings ping_ms latencyPing
round_trip roundtrips Round-Trip-Times latency_round_trip"""


@pytest.mark.parametrize("name", ROUND_TRIPS.split())
def test_whatever_is_taken_for_round_trip_times_is_halved(folder, name):
    (folder / f"{name}.csv").write_text(TIMES)
    found = load_underlay(folder)
    assert found.measured.latency_s.tolist() == [[0, 0.015], [0.02, 0]]
    assert "latency, half of the round-trip time" in found.notes[-1]
    files = NetworkFiles(bandwidth_matrix=folder / "bandwidth.csv", latency_matrix=folder / f"{name}.csv")
    np.testing.assert_array_equal(load_underlay(files).measured.latency_s, found.measured.latency_s)


@pytest.mark.parametrize(
    "name", ["latency", "latency_ms", "latencymatrix", "latency_mapping", "Latency-one-way"]
)
def test_latencies_are_not_halved(folder, name):
    (folder / f"{name}.csv").write_text(TIMES.replace(",a,b", "ms,a,b"))
    assert load_underlay(folder).measured.latency_s.tolist() == [[0, 0.03], [0.04, 0]]


@pytest.mark.parametrize("name", ["latency_min", "rtt_min", "latency_d", "latency_h"])
def test_the_end_of_a_file_name_is_no_unit_that_may_be_another_word(folder, name):
    (folder / f"{name}.csv").write_text(TIMES.replace(" ms", ""))
    with pytest.raises(InputError, match=r"row 2, b\(='30'\) has no unit, neither in the corner cell"):
        load_underlay(folder)


@pytest.mark.parametrize("corner", ["min", "d", "h", "rtt min"])
def test_nor_is_that_of_a_corner(folder, corner):
    (folder / "latency.csv").write_text(corner + TIMES.replace(" ms", ""))
    with pytest.raises(InputError, match=r"row 2, b\(='30'\) has no unit"):
        load_underlay(folder)


def test_bytes_in_a_corner_are_bytes(folder):
    (folder / "rtt.csv").write_text(TIMES)
    (folder / "bandwidth.csv").write_text(BANDWIDTH.replace("Mbps", "MBps"))
    assert load_underlay(folder).measured.bandwidth_bps[0, 1] == 8e6


@pytest.mark.parametrize(
    ("field", "file", "name"),
    [
        ("pairs", "pairs_of_europe", "pairs_of_europe"),
        ("pairs", "uplinks_pairs", "uplinks"),
        ("pairs", "north_pairs", "north"),
        ("pairs", "bandwidth_study_pairs", "bandwidth_study"),
        ("pairs", "pairs", "wards"),
        ("links", "uplinks", "uplinks"),
        ("links", "hedges", "hedges"),
        ("links", "Edges", "wards"),
        ("links", "v2.links", "v2"),
        ("bandwidth_matrix", "lab_bandwidth_mbps", "lab"),
        ("bandwidth_matrix", "bandwidth_mbps", "wards"),
    ],
)
def test_name_of_a_network(field, file, name):
    assert NetworkFiles(sites="s.csv", **{field: f"wards/{file}.csv"}).name == name


def test_a_folder_has_its_whole_name(tmp_path, monkeypatch):
    folder = tmp_path / "net.v2"
    folder.mkdir()
    (folder / "pairs.csv").write_text(PAIRS)
    assert load_underlay(folder).name == "net.v2"
    monkeypatch.chdir(folder)
    assert load_underlay(".").name == load_underlay(Path(".")).name == "net.v2"
    assert NetworkFiles(pairs="pairs.csv").name == "net.v2"
    assert folder_name("/") == "network"


@pytest.mark.parametrize("field", ["sites", "links", "pairs", "bandwidth_matrix", "latency_matrix"])
def test_empty_paths(tmp_path, field):
    with pytest.raises(InputError, match=rf"^{field}\(=''\) must be a path\.$"):
        NetworkFiles(**{"pairs": "p.csv", field: ""})
    (tmp_path / "net.toml").write_text(f'{field} = ""\n')
    with pytest.raises(InputError, match=rf"net\.toml: {field}\(=''\) must be a path\.$"):
        load_underlay(tmp_path / "net.toml")


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x85b", "a\u2028b", "x" * 90 + "\n"])
def test_messages_and_notes_about_any_path_are_one_line(tmp_path, name):
    folder = tmp_path / name
    with pytest.raises(InputError, match="there is no such file") as missing:
        load_underlay(NetworkFiles(pairs=folder / "p.csv"))
    folder.mkdir()
    with pytest.raises(InputError, match="is a directory; one of a network holds") as empty:
        load_underlay(folder)
    (folder / "sites.csv").write_text("name,x\na,1\nb,2\n")
    with pytest.raises(InputError, match="needs links, pairs or") as alone:
        load_underlay(folder)
    messages = [missing, empty, alone]
    for content, rule in (
        ("= 1", "not valid TOML"),
        ("[network]", "is a scenario"),
        ("x = 1", "has no key 'x'; its keys are"),
        ("sites = 3", "must be a path"),
        ("sites = 's.csv'", "needs links"),
        ('pairs = "a\\nb.csv"', "no such file"),
    ):
        (folder / "net.toml").write_text(content)
        with pytest.raises(InputError, match=rule) as caught:
            load_underlay(folder / "net.toml")
        messages.append(caught)
    (folder / "pairs.csv").write_text(PAIRS)
    for options in ({"variant": "published"}, {"internal_only": True}):
        with pytest.raises(InputError) as caught:
            load_underlay(folder, **options)
        messages.append(caught)
    assert all(str(caught.value).isprintable() for caught in messages)
    assert all(note.isprintable() for note in load_underlay(folder).notes)


def test_a_path_that_is_quoted_states_as_much(folder):
    path = folder / ("x" * 90 + "\n_rtt_ms.csv")
    path.write_text(TIMES.replace(" ms", ""))
    files = NetworkFiles(bandwidth_matrix=folder / "bandwidth.csv", latency_matrix=path)
    assert load_underlay(files).measured.latency_s[0, 1] == 0.015
    assert shown("a b/é.csv") == "a b/é.csv"


def test_a_folder_that_cannot_be_read(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InputError, match=f"^{tmp_path}: cannot be read: Permission denied\\.$"):
        load_underlay(tmp_path)


WHOLE = {
    "sites": "name,lat,lon\nA,1,2\nB,3,4\nC,5,6\n",
    "links": "a,b,mbps\nA,B,1\nB,C,\n",
    "pairs": "from,to,mbps,ms\nA,B,1,2\nB,C,1,2\nC,A,1,2\n",
    "bandwidth_mbps": ",A,B,C\nA,,1,2\nB,1,,2\nC,1,2,\n",
    "rtt_ms": ",A,B,C\nA,0,1,2\nB,1,0,2\nC,1,2,0\n",
}


@pytest.mark.parametrize(
    "together", [("sites", "links"), ("pairs",), ("bandwidth_mbps", "rtt_ms")], ids=lambda names: names[0]
)
def test_a_row_with_other_cells_than_the_header_is_an_error_in_every_table(tmp_path, together):
    for odd in together:
        for change, count in ((lambda row: row.rpartition(",")[0], -1), (lambda row: f"{row},7", 1)):
            for name in together:
                head, first, *rest = WHOLE[name].splitlines()
                lines = [head, change(first) if name == odd else first, *rest]
                (tmp_path / f"{name}.csv").write_text("\n".join(lines))
            size = head_size(odd)
            with pytest.raises(
                InputError, match=rf"{odd}\.csv: row 2 has {size + count} cells, the header {size}"
            ):
                load_underlay(tmp_path)


def head_size(name):
    return WHOLE[name].splitlines()[0].count(",") + 1


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        ('pairs = "pairs.csv"', True),
        ('sites = "s.csv"\nlinks = "l.csv"', True),
        ('network = "gaia"\nsites = "s.csv"', False),
        ("[network]", False),
        ("rounds = 3", False),
        ("pairs = ", False),
        (b"pairs = '\xff'", False),
        (None, False),
    ],
)
def test_which_toml_files_are_networks_and_what_is_read_for_them(folder, content, is_one):
    path = folder / "net.toml"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    assert is_network_file(path) is is_one
    if is_one:
        assert read_files(path)[0] == path
        assert {file.parent for file in read_files(path)} == {folder}
        assert len(read_files(path)) == 1 + content.count("=")
    else:
        assert read_files(path) == ([] if content is None else [path])


def test_what_is_read_for_a_folder(folder):
    (folder / "rtt.csv").write_text(TIMES)
    (folder / "notes.txt").write_text("not read")
    assert sorted(read_files(folder)) == [folder / "bandwidth.csv", folder / "rtt.csv"]


def test_what_is_nowhere(folder):
    for path in (folder / "none.csv", folder / "bandwidth.csv" / "none.csv", Path("a\0b")):
        assert is_nowhere(path) is True
    # Of a name that is too long, reading says why.
    for path in (folder, folder / "bandwidth.csv", folder / ("x" * 300)):
        assert is_nowhere(path) is False


def test_either_table_of_pairs_or_one_matrix_alone():
    for text, rule in (
        (
            "site,lat,lon\na,1,2\nb,3,4\n",
            "is a table of sites; the links, the pairs or the matrices of the network are",
        ),
        (
            "Mbps,a,b\nb,,1\na,1,\n",
            "is one matrix; a network takes one of bandwidth and one of latency, in a folder or",
        ),
        ("from,lat,mbps\na,b,1\n", "needs a column 'to'"),
    ):
        with pytest.raises(InputError) as caught:
            stated_by_pairs(text.encode(), "t.csv")
        assert str(caught.value).startswith(f"t.csv: {rule}")
    assert stated_by_pairs(PAIRS.encode(), "t.csv").labels == ("a", "b")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pairs": "x/a_pairs.csv"}, "a"),
        ({"links": "x/b.links.csv", "sites": "s.csv"}, "b"),
        ({"bandwidth_matrix": "x/c-bandwidth-2024.csv", "latency_matrix": "l.csv"}, "c"),
        ({"bandwidth_matrix": "x/pairs.csv", "sites": "s.csv"}, "pairs"),
        ({"pairs": "x/bandwidth.csv"}, "bandwidth"),
    ],
)
def test_a_network_is_called_by_what_its_file_adds_to_its_kind(files, name):
    assert NetworkFiles(**files).name == name


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Silos.TSV", "sites"),
        ("edges.csv", "links"),
        ("PAIRS.csv", "pairs"),
        ("bandwidth_2024.csv", "bandwidth_matrix"),
        ("Latency.csv", "latency_matrix"),
        ("ping.tsv", "latency_matrix"),
    ],
)
def test_which_files_of_a_folder_hold_what(tmp_path, name, field):
    others = {"sites": "links.csv", "links": "sites.csv", "latency_matrix": "bandwidth.csv"}
    (tmp_path / name).touch()
    if field in others:
        (tmp_path / others[field]).touch()
    if field == "bandwidth_matrix":
        (tmp_path / "rtt.csv").touch()
    assert getattr(files_in(tmp_path), field) == tmp_path / name
    (tmp_path / "other.csv").touch()
    assert getattr(files_in(tmp_path), field) == tmp_path / name
