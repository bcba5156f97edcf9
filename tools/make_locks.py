"""Writes the locks: wheels of constraints.txt for Linux on x86_64, with the hashes of pip's index.

    python tools/make_locks.py

pip resolves setup.cfg under constraints.txt for each Python. Hashes that a lock has for the same version stay: only
some machines find the wheels of torch for processors alone.
"""

import configparser
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12")
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + [
    f"{name}_x86_64" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")
]
# What torch of PyPI needs and torch for processors alone does not: gigabytes.
CUDA = ("cuda-", "nvidia-", "triton")

HEADS = {
    "requirements.lock": "What silosim runs with but torch, for Linux on x86_64.",
    "requirements-cpu.lock": "torch for processors alone.",
    "requirements-cuda.lock": "torch as PyPI has it, with what it needs besides requirements.lock.",
    "requirements-dev.lock": "What the extras, tests and pages need besides.",
    "requirements-release.lock": "What `make release` runs, in an environment of its own.",
}

# By name, as indices spell it, and version.
Hashes = dict[tuple[str, str], set[str]]


def main() -> None:
    """Resolve each set of requirements for each Python, and write what differs."""
    pinned = dict(pins((ROOT / "constraints.txt").read_text(encoding="utf-8")))
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = {name: text.split("\n") for name, text in setup["options.extras_require"].items()}
    run = setup["options"]["install_requires"].split("\n")
    release = extras.pop("release")
    hashes: Hashes = {}
    # `==` takes the build for processors alone where pip finds one, `===` PyPI's.
    needed = resolved(run, hashes) | resolved([*run, f"torch==={pinned['torch']}"], hashes)
    tools = resolved(release, hashes)
    every = resolved([*run, *(line for lines in extras.values() for line in lines)], hashes)
    if missing := sorted(f"{name}=={version}" for name, version in hashes if name not in pinned):
        raise SystemExit("\n".join(["constraints.txt lacks:", *missing]))
    if unused := sorted(pinned.keys() - (every | tools)):
        raise SystemExit(f"constraints.txt pins what nothing needs: {', '.join(unused)}.")
    cuda = {name for name in needed if name.startswith(CUDA)}
    by_file = [needed - cuda - {"torch"}, cuda | {"torch"}, every - needed, tools]
    locked = [{(name, pinned[name]) for name in names} for names in by_file]
    locked.insert(1, {("torch", f"{pinned['torch']}+cpu")})
    for (file, head), entries in zip(HEADS.items(), locked, strict=True):
        write(ROOT / file, head, entries, hashes)


def pins(text: str) -> Iterator[tuple[str, str]]:
    """Names, as indices spell them, and versions of lines ``name==version``."""
    for name, version in re.findall(r"^([^\s#=]+)==([^\s;\\]+)", text, re.MULTILINE):
        yield canonicalize_name(name), version


def resolved(requirements: Iterable[str], hashes: Hashes) -> set[str]:
    """Names that the requirements need on any of the Pythons; the hashes of their wheels are added."""
    lines = [line.strip() for line in requirements if line.strip()]
    names: set[str] = set()
    for python in PYTHONS:
        items = report(lines, python)
        found = {canonicalize_name(item["metadata"]["name"]) for item in items}
        # pip takes the markers of the Python that runs it.
        if missing := sorted(needed_of(items, lines, python) - found):
            raise SystemExit(f"Python {python} needs {', '.join(missing)}, which pip did not find for it.")
        for item in items:
            name = canonicalize_name(item["metadata"]["name"])
            digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
            hashes.setdefault((name, item["metadata"]["version"]), set()).add(digest)
        names |= found
    return names


def report(lines: list[str], python: str) -> list[dict[str, Any]]:
    """What pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += [
            "--only-binary=:all:",
            "--target",
            folder,
            "--python-version",
            python,
            "--report",
            str(path),
        ]
        command += [f"--platform={platform}" for platform in PLATFORMS]
        subprocess.run([*command, "-c", str(ROOT / "constraints.txt"), *lines], check=True)
        found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["install"]
        return found


def needed_of(items: list[dict[str, Any]], lines: list[str], python: str) -> set[str]:
    """All that the requirements reach with the markers of a Python, as the metadata state it."""
    stated = {
        canonicalize_name(item["metadata"]["name"]): item["metadata"].get("requires_dist", [])
        for item in items
    }
    marks = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    reached: set[tuple[str, str]] = set()
    left = [Requirement(line) for line in lines]
    while left:
        each = left.pop()
        name = canonicalize_name(each.name)
        for extra in {"", *each.extras} - {extra for known, extra in reached if known == name}:
            reached.add((name, extra))
            for line in stated.get(name, []):
                one = Requirement(line)
                if one.marker is None or one.marker.evaluate({**marks, "extra": extra}):
                    left.append(one)
    return {name for name, _ in reached}


def locked_hashes(text: str) -> Hashes:
    """Hashes of a lock."""
    return {
        pin: set(re.findall(r"--hash=sha256:(\w{64})", entry))
        for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE)
        for pin in pins(entry)
    }


def write(path: Path, head: str, entries: set[tuple[str, str]], hashes: Hashes) -> None:
    """Write a lock in the order of the names."""
    before = locked_hashes(path.read_text(encoding="utf-8")) if path.exists() else {}
    lines = [f"# {head} Made by `make locks`; install with `pip install --require-hashes`."]
    for entry in sorted(entries):
        every = sorted(hashes.get(entry, set()) | before.get(entry, set()))
        if not every:
            raise SystemExit(f"{path.name}: no wheel of {'=='.join(entry)} was found.")
        lines += [" \\\n    ".join(["==".join(entry), *(f"--hash=sha256:{one}" for one in every)])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
