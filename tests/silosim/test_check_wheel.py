"""The check of a release's wheel names files that it lacks, has too many, or has with other bytes."""

import importlib.util
import subprocess
import zipfile
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "check_wheel.py"


def test_each_difference_between_wheel_and_git_is_named(tmp_path):
    spec = importlib.util.spec_from_file_location("check_wheel", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for package in tool.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(package)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    own = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, "commit", "-qm", "all"], cwd=tmp_path, check=True)
    # What is changed, added or lost beside it, staged or not, is no part of the release.
    (tmp_path / "silosim" / "left.py").touch()
    (tmp_path / "scenarios" / "__init__.py").write_text("other")
    subprocess.run(["git", "add", "silosim/left.py"], cwd=tmp_path, check=True)
    (tmp_path / "training" / "__init__.py").unlink()
    files = {f"{package}/__init__.py": package for package in tool.PACKAGES}
    info = {"silosim-0.1.0.dist-info/RECORD": ""}

    def differences(held: dict[str, str]) -> list[str]:
        with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
            for name, text in held.items():
                archive.writestr(name, text)
        return tool.differences(tmp_path / "a.whl", tmp_path)

    assert differences(files | info) == []
    del files["training/__init__.py"]
    assert differences(files | info | {"silosim/left.py": "", "scenarios/__init__.py": "other"}) == [
        "training/__init__.py is missing",
        "silosim/left.py is not in the last commit",
        "scenarios/__init__.py differs",
    ]
