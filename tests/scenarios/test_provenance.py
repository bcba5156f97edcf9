"""What a page says of the files that its results come from."""

import hashlib
import json

from scenarios.pages.provenance import file_digest, input_digests, origin_list
from scenarios.runfile.origin import NETWORK_DIGEST, recorded_origin


def test_files_of_the_scenario_that_are_there_are_hashed(tmp_path):
    (tmp_path / "net.gml").write_bytes(b"graph")
    scenario = '[network]\nunderlay = "net.gml"\n[imported]\nfile = "gone.csv"\n'

    assert input_digests(tmp_path / "run.h5", scenario) == {
        "net.gml as it is now, SHA-256": hashlib.sha256(b"graph").hexdigest()
    }
    assert input_digests(tmp_path / "run.h5", '[network]\nunderlay = "gaia"\n') == {}


def test_versions_are_those_of_the_file():
    unstated = {"silosim version": "not stated", "seed": "not stated", NETWORK_DIGEST: "not stated"}

    assert recorded_origin({}) == unstated
    assert recorded_origin({"library_versions": json.dumps({"numpy": "1.2", "h5py": "3"}), "seed": 7}) == {
        **unstated,
        "library versions": "numpy 1.2, h5py 3",
        "seed": "7",
    }


def test_a_digest_is_that_of_all_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.pages.provenance._PIECE", 4)
    for data in (b"", b"abc", b"abcd", b"abcdefghi"):
        (tmp_path / "x").write_bytes(data)
        assert file_digest(tmp_path / "x") == hashlib.sha256(data).hexdigest()


def test_files_that_a_scenario_names_are_hashed_code_without_its_name(tmp_path):
    for name in ("code.py", "links.csv", "m.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder").mkdir()
    scenario = (
        '[network]\nunderlay = "folder"\nlinks = "links.csv"\n[training]\nmodel = "code.py:Net"\nloss = "mse"\n'
        'data = ""\n[imported]\nfile = "m.csv"\n[workload]\nfile = "links.csv"\n'
    )
    assert input_digests(tmp_path / "x.h5", scenario) == {
        f"{name} as it is now, SHA-256": hashlib.sha256(name.encode()).hexdigest()
        for name in ("links.csv", "m.csv", "code.py")
    }
    assert origin_list({"<a>": "&"}) == "<dl><dt>&lt;a&gt;</dt><dd>&amp;</dd></dl>"
