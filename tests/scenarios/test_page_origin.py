"""What a page says of the files that its results come from."""

import hashlib
import json

from scenarios.pages.origin import input_digests
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
