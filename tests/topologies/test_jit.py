import errno
import importlib
import math
from pathlib import Path
from types import SimpleNamespace

import numba.core.caching

from topologies import jit


def test_other_texts_and_other_processors_have_other_folders(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("one")
    first = jit._folder(package, "")
    assert first is not None
    assert first.parent == package / "__pycache__"
    assert jit._folder(package, "") == first
    monkeypatch.setattr(jit, "get_host_cpu_name", lambda: "another")
    second = jit._folder(package, "")
    (package / "a.py").write_text("two")
    third = jit._folder(package, "")
    (tmp_path / "tolerances.py").write_text("three")
    assert len({first, second, third, jit._folder(package, "")}) == 4


def test_the_users_choice_comes_first_and_the_cache_of_the_home_last(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    chosen = jit._folder(package, str(tmp_path / "chosen"))
    assert chosen is not None
    assert chosen.parent == tmp_path / "chosen"
    (package / "__pycache__").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cached = jit._folder(package, "")
    assert cached is not None
    assert cached.parent == tmp_path / "cache"


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__pycache__").write_text("no folder")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "~")  # as without any
    monkeypatch.chdir(tmp_path)
    assert jit._folder(package, "") is None
    assert not (tmp_path / "~").exists()


def test_a_disk_that_is_full_keeps_nothing_and_stops_nothing(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "full.py").write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    tried = []

    def full(*_: object) -> None:
        tried.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    double = jit.compiled(importlib.import_module("package.full").double)
    assert double(3) == 6
    assert tried


def test_what_is_compiled_is_kept_in_the_folder_of_its_package_and_rounds_as_python_does(
    tmp_path: Path, monkeypatch
) -> None:
    package = tmp_path / "kept_package"
    package.mkdir()
    (package / "kept.py").write_text(
        "def line(a, b, c):\n    return a * b + c\n\ndef share(a, b):\n    return a / b\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = numba.core.config.CACHE_DIR
    module = importlib.import_module("kept_package.kept")
    line = jit.compiled(module.line)
    # Rounding takes a bit off the product, which a fused sum would show.
    near_one = 1 + 2.0**-27
    assert line(near_one, near_one, -(near_one * near_one)) == 0.0
    # As NumPy's numbers: no error.
    assert jit.compiled(module.share)(1.0, 0.0) == math.inf
    assert before == numba.core.config.CACHE_DIR
    folder = jit._folder(package, before)
    assert folder is not None
    assert len(list(folder.rglob("kept.line-*.nbi"))) == 1


def test_other_features_of_a_processor_have_another_folder(tmp_path: Path, monkeypatch) -> None:
    first = jit.cache_folders(tmp_path, "")
    monkeypatch.setattr(jit, "get_host_cpu_features", lambda: SimpleNamespace(flatten=lambda: "+another"))
    jit._cpu_features.cache_clear()
    try:
        second = jit.cache_folders(tmp_path, "")
    finally:
        jit._cpu_features.cache_clear()
    assert [folder.parent for folder in first] == [folder.parent for folder in second]
    assert {folder.name for folder in first} != {folder.name for folder in second}
