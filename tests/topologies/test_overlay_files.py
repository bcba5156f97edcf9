"""Overlays and mixing matrices from files."""

import networkx as nx
import numpy as np
import pytest

from topologies import InputError
from topologies.overlay_files import _filled, _first_row, read_matrix, read_overlay

LABELS = ("Bonn", "Köln", "Lyon")
RING = [(0, 1), (1, 2), (2, 0)]
BOTH = sorted(RING + [(j, i) for i, j in RING])
WEIGHTS = np.array([[0.5, 0.0, 0.5], [0.25, 0.75, 0.0], [0.0, 0.5, 0.5]])


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pairs(path, **options):
    found, weights = read_overlay(path, LABELS, **options)
    assert weights is None
    return list(map(tuple, found.tolist()))


@pytest.mark.parametrize(
    "text",
    [
        "from,to\nBonn,Köln\nKöln,Lyon\nLyon,Bonn\n",
        "\ufeffSource;Target;note\r\nLyon;Bonn;x\r\n\r\nBonn;Köln;\r\nKöln;Lyon;\r\n",
        "a\tb\n0\t1\n1\t2\n2\t0\n",
        "from,to,weight\nBonn,1,\n1,Lyon,\nLyon,Bonn,\n",
    ],
)
def test_tables_of_arcs(file, text):
    assert pairs(file("overlay.csv", text)) == RING
    assert pairs(file("overlay.csv", text), both_ways=True) == BOTH


@pytest.mark.parametrize("ending", ["gml", "graphml"])
def test_what_networkx_writes(tmp_path, ending):
    write = nx.write_gml if ending == "gml" else nx.write_graphml
    for name, nodes in (("labels", LABELS), ("numbers", (0, 1, 2))):
        directed = nx.DiGraph([(nodes[i], nodes[j]) for i, j in RING])
        for graph, expected in ((directed, RING), (directed.to_undirected(), BOTH)):
            path = tmp_path / f"{name}.{ending}"
            write(graph, path)
            assert pairs(path) == expected
        assert pairs(path, both_ways=True) == BOTH


@pytest.mark.parametrize("ending", ["gml", "graphml"])
def test_weights_of_a_graph(tmp_path, ending):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (LABELS[i], LABELS[j], float(WEIGHTS[j, i])) for j, i in np.argwhere(WEIGHTS) if i != j
    )
    (nx.write_gml if ending == "gml" else nx.write_graphml)(graph, tmp_path / f"w.{ending}")
    _, weights = read_overlay(tmp_path / f"w.{ending}", LABELS)

    assert np.array_equal(weights, WEIGHTS)


def test_weights_of_a_table(file):
    rows = [f"{LABELS[i]};{LABELS[j]};{WEIGHTS[j, i]}".replace(".", ",") for j, i in np.argwhere(WEIGHTS)]
    _, weights = read_overlay(file("w.csv", "from;to;weight\n" + "\n".join(rows)), LABELS)
    assert np.array_equal(weights, WEIGHTS)
    without = [row for row in rows if row.split(";")[0] != row.split(";")[1]]
    _, same = read_overlay(file("w.csv", "from;to;weight\n" + "\n".join(without)), LABELS)
    assert np.array_equal(same, WEIGHTS)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        (
            "o.csv",
            "from,to\nBonn,Kölm\n",
            r"o.csv: row 2, to\(='Kölm'\) must be one of .* \(did you mean 'Köln'\?\)",
        ),
        ("o.csv", "from,to\nBonn,Köln\n\nBonn,3\n", r"row 4, to\(='3'\) must be a label or a number of 0..2"),
        (
            "o.csv",
            "from,to\nBonn,Köln\nBonn,1\n",
            "row 3: the arc Bonn -> Köln must not be repeated; row 2 states it",
        ),
        ("o.csv", "from,to\nBonn,Bonn\n", "row 2: an arc must join two silos, not Bonn with itself"),
        ("o.csv", "from,to,weight\nBonn,Köln,much\n", r"row 2, weight\(='much'\) must be a number"),
        ("o.csv", "from,to,weight\nBonn,Köln,inf\n", r"row 2, weight\(=inf\) must be finite"),
        ("o.csv", "from,to,weight\nBonn,Köln,0.5\nKöln,Bonn,\n", "row 3 must state a weight, as others do"),
        (
            "o.csv",
            "from,to,weight\nBonn,Köln,0.5\nLyon,Köln,0.6\n",
            "Köln gives .* sum to 1.1; they must sum to <= 1 within 1e-06",
        ),
        ("o.csv", "from,where\nBonn,Köln\n", "needs a column 'to' or 'target' or 'dst' for the receiver"),
        ("o.csv", "", "is an empty table"),
        ("o.yaml", "x", r"ending\(='.yaml'\) must be one of .csv, .gml, .graphml"),
        (
            "o.gml",
            'graph [ node [ id 0 label "Bonn" ] node [ id 1 label "Bonn" ] ]',
            "'Bonn' must be one node, is 2",
        ),
        ("o.gml", "graph [ node [ id 0 label", "is not a GML file"),
        (
            "o.gml",
            'graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight "x" ] ]',
            r"link 0 \('0 - 1'\): weight\(='x'\) must be a number",
        ),
    ],
)
def test_a_wrong_file_of_arcs_is_one_line(file, name, text, rule):
    with pytest.raises(InputError, match=rule) as caught:
        read_overlay(file(name, text), LABELS)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_both_ways_and_both_rows_are_one_too_many(file):
    path = file("o.csv", "from,to\nBonn,Köln\nKöln,Bonn\n")
    with pytest.raises(
        InputError, match="row 3: the arc Köln -> Bonn must not be repeated; row 2 states it in both"
    ):
        read_overlay(path, LABELS, both_ways=True)


@pytest.mark.parametrize("how", ["npy", "savetxt", "commas", "semicolons", "labels", "other order"])
def test_matrices(tmp_path, how):
    path = tmp_path / ("w.npy" if how == "npy" else "w.csv")
    if how == "npy":
        np.save(path, WEIGHTS)
    elif how == "savetxt":
        np.savetxt(path, WEIGHTS)
    elif how == "commas":
        np.savetxt(path, WEIGHTS, delimiter=",")
    elif how == "semicolons":
        path.write_text("\n".join(";".join(map(str, row)) for row in WEIGHTS.tolist()).replace(".", ","))
    else:
        order = [0, 1, 2] if how == "labels" else [2, 0, 1]
        rows = [["", *(LABELS[j] for j in order)], *([LABELS[i], *WEIGHTS[i, order]] for i in order)]
        path.write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")

    assert np.array_equal(read_matrix(path, LABELS), WEIGHTS)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0.5,0.5\n0.5,0.5\n", "has 2 x 2 weights, must have 3 x 3"),
        (",Bonn,Köln,Lyon\nBonn,1,0,0\nKöln,0,1,0\n", "must have a row for each silo; 'Lyon' has none"),
        (",Bonn,Köln,Lyn\nBonn,1,0,0\n", "the header's silo 'Lyn' must be one of .*did you mean 'Lyon'"),
        (",Bonn,Köln,Lyon\nBonn,1,0,x\n", r"row 2, Lyon\(='x'\) must be a number"),
        (
            ",Bonn,Köln,Lyon\nBonn,1,0,0\nLyon,0.2,NaN,0.8\n",
            r"row 3, Köln\(='NaN'\) must be finite; where there is no weight, the cell is empty or 0",
        ),
        ("1,0,0\n0.2,0.8,nan\n0,0,1\n", r"row 2, column 3\(='nan'\) must be finite"),
        ("0.2,NaN,0.8\n0,1,0\n0,0,1\n", r"first row, column 2\(='NaN'\) must be finite"),
        (",N/A,0.8\n0,1,0\n0,0,1\n", r"first row, column 2\(='N/A'\) must be finite"),
        ("1;0;0\n0,2;inf;0,8\n0;0;1\n", r"row 2, column 2\(='inf'\) must be finite"),
        (",Bonn,Köln,Lyon\nBonn,1,0,0\nBonn,1,0,0\n", r"row 3, silo\(='Bonn'\) must not be repeated"),
        (",Bonn,Köln,Bonn\nBonn,1,0,0\n", "must name each silo once in its header"),
        ("1 0 0\n0 1\n", "must have columns separated by"),
    ],
)
def test_a_wrong_matrix_is_one_line(file, text, rule):
    with pytest.raises(InputError, match=rule) as caught:
        read_matrix(file("w.csv", text), LABELS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5,,0.5\n0.25,0.75,\n,0.5,0.5\n", WEIGHTS),
        ("0.5,0.5,\n0.25,0.5,0.25\n,0.5,0.5\n", [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]]),
        (",0.5,0.5\n0.25,0.75,\n,0.5,0.5\n", [[0, 0.5, 0.5], [0.25, 0.75, 0], [0, 0.5, 0.5]]),
        ("sep=;\r\n\r\n0,5;;0,5;\r\n0,25;0,75;;\r\n;0,5;0,5;\r\n", WEIGHTS),
        ("1,,\n,1,\n,,1\n", np.eye(3)),
        (",0,1,2\n0,0.5,,0.5\n1,0.25,0.75,\n2,,0.5,0.5\n", WEIGHTS),
        ("-,1,-\n1,-,–\n—,-,1\n", [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_empty_cell_is_0_in_every_row(file, text, expected, encoding):
    assert np.array_equal(read_matrix(file("w.csv", text.encode(encoding)), LABELS), expected)


def test_labels_that_are_numbers_are_no_indices(file):
    labels = ("1", "2", "3")
    arcs, _ = read_overlay(file("o.csv", "from,to\n1,2\n2,3\n3,1\n"), labels)
    assert arcs.tolist() == [[0, 1], [1, 2], [2, 0]]
    with pytest.raises(InputError, match=r"row 2, from\(='0'\) must be one of 1, 2, 3.*only a label here"):
        read_overlay(file("o.csv", "from,to\n0,1\n1,2\n2,0\n"), labels)
    matrix = read_matrix(file("w.csv", ",3,1,2\n3,0,1,0\n1,0.5,0.5,0\n2,0,0,1\n"), labels)
    assert matrix.tolist() == [[0.5, 0, 0.5], [0, 1, 0], [1, 0, 0]]
    with pytest.raises(InputError, match="the header's silo '0' must be one of 1, 2, 3"):
        read_matrix(file("w.csv", ",0,1,2\n0,1,0,0\n1,0,1,0\n2,0,0,1\n"), labels)


def test_a_number_of_thousands_of_digits_is_one_line(file):
    with pytest.raises(InputError, match=r"row 2, from\(='99.*99'\) must be a label or a number of 0..2"):
        read_overlay(file("o.csv", f"from,to\n{'9' * 5000},0\n"), LABELS)


@pytest.mark.parametrize("read", [read_overlay, read_matrix])
@pytest.mark.parametrize("name", ["a\nb.csv", "a\nb.gml", "a\nb.npy", "a\x1bb.csv"])
def test_a_path_with_a_line_end_is_one_line(tmp_path, file, read, name):
    with pytest.raises(InputError) as caught:
        read(tmp_path / name, LABELS)
    with pytest.raises(InputError) as bad:
        read(file(name, "x,y\n1,2\n"), LABELS)
    for error in (str(caught.value), str(bad.value)):
        assert error.isprintable()
        assert repr(name)[1:-1] in error


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_the_shape_of_a_file_of_numpy_is_checked_before_it_is_read(tmp_path, version):
    path = tmp_path / "big.npy"
    with path.open("wb") as out:
        np.lib.format.write_array(out, WEIGHTS, version=version)
    assert np.array_equal(read_matrix(path, LABELS), WEIGHTS)
    whole = path.read_bytes()
    # What the header claims is larger than any memory.
    claim = whole.replace(b"(3, 3), }" + 14 * b" ", b"(10000000, 10000000), }")
    assert claim != whole
    path.write_bytes(claim)
    with pytest.raises(InputError, match="has 10000000 x 10000000 weights, must have 3 x 3"):
        read_matrix(path, LABELS)
    path.write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"is not a \.npy file of numbers"):
        read_matrix(path, LABELS)


@pytest.mark.parametrize(
    "header", [b"{", b"{'descr': (", b"(" * 5000, b"\xff", b"{'descr': '<f8'}", b"[1, 2]"]
)
def test_a_file_of_numpy_with_a_broken_header(file, header):
    data = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
    with pytest.raises(InputError, match=r"is not a \.npy file of numbers"):
        read_matrix(file("w.npy", data), LABELS)


def test_a_single_number_is_no_matrix(tmp_path):
    np.save(tmp_path / "one.npy", np.array(0.5))
    with pytest.raises(InputError, match="has a single number, must have 3 x 3"):
        read_matrix(tmp_path / "one.npy", LABELS)


def test_a_file_of_numpy_that_is_none(file, tmp_path):
    with pytest.raises(InputError, match=r"is not a \.npy file of numbers"):
        read_matrix(file("w.npy", b"PK\x03\x04"), LABELS)
    with pytest.raises(InputError, match="there is no such file"):
        read_matrix(tmp_path / "no.npy", LABELS)
    np.save(tmp_path / "t.npy", np.array(["a"]))
    with pytest.raises(InputError, match="must hold one array of numbers"):
        read_matrix(tmp_path / "t.npy", LABELS)
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(InputError, match="must hold one array of numbers"):
        read_matrix(tmp_path / "o.npy", LABELS)


def test_rows_that_are_blank_stand_before_the_first_one():
    assert _first_row("sep=;\n;;\r\na;b\r\nc;d") == ("sep=;\n;;\r\n", "a;b", "\r\nc;d")
    assert _first_row("a,b\nsep=;\n") == ("", "a,b", "\nsep=;\n")
    assert _first_row(" ,;\t\n\n") == (" ,;\t\n\n", "", "")


@pytest.mark.parametrize(
    ("data", "silos", "filled"),
    [
        (b"1,,\n2,3,4\n", 3, b"1,0,0\n2,3,4\n"),
        (b"1,,,\n2,3,4\n", 3, b"1,0,0\n2,3,4\n"),
        (b"1,2,\n2,3,4\n", 2, b"1,2\n2,3,4\n"),
        (b"a,,\n2,3,4\n", 3, b"a,,\n2,3,4\n"),
        (b"1,,\n2,3,4\n", 4, b"1,,\n2,3,4\n"),
        ("é,1\n".encode("latin-1"), 2, "é,1\n".encode("latin-1")),
    ],
)
def test_empty_cells_of_a_first_row_of_weights_are_zeros(data, silos, filled):
    assert _filled(data, silos) == filled


@pytest.mark.parametrize("kind", [np.int8, np.uint16, bool, np.float32])
def test_numbers_of_any_kind_in_a_file_of_numpy(tmp_path, kind):
    matrix = np.eye(3)[[1, 2, 0]]
    np.save(tmp_path / "w.npy", matrix.astype(kind))
    (tmp_path / "w.npy").rename(tmp_path / "w.NPY")
    found = read_matrix(tmp_path / "w.NPY", LABELS)
    assert (found.tolist(), found.dtype) == (matrix.tolist(), np.float64)
    np.save(tmp_path / "c.npy", matrix.astype(complex))
    with pytest.raises(InputError, match=r"c\.npy: must hold one array of numbers\.$"):
        read_matrix(tmp_path / "c.npy", LABELS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 0\n0 1 0\n", "w.csv: has 2 x 3 weights, must have 3 x 3: one for each pair of silos."),
        ("1 0\n0 1\n0 0\n", "w.csv: has 3 x 2 weights, must have 3 x 3: one for each pair of silos."),
        (
            ",Bonn,Köln\nBonn,1,0\nKöln,0,1\nLyon,0.5,0.5\n",
            "w.csv: must have a column for each silo; 'Lyon' has none.",
        ),
        (
            ",Bonn,Köln,Lyon\nBonn,1,0,0\nLyon,0,1,0\n",
            "w.csv: must have a row for each silo; 'Köln' has none.",
        ),
        (
            "who,Bonn,Köln,Lyon\nBonn,1,0,0\nBonn,1,0,0\n",
            "w.csv: row 3, who(='Bonn') must not be repeated.",
        ),
        ("1,0,0\n0,1,x\n0,0,1\n", "w.csv: row 2, column 3(='x') must be a number."),
    ],
)
def test_what_a_matrix_lacks_is_said_in_these_words(file, text, message):
    path = file("w.csv", text)
    with pytest.raises(InputError) as caught:
        read_matrix(path, LABELS)
    assert str(caught.value).replace(str(path.parent) + "/", "") == message
