"""The page of dependencies has each of setup.cfg with its licence; constraints and locks have one version of each."""

import configparser
import importlib.metadata
import re

import pytest
from document_blocks import ROOT

# Any of torch's with the first are what silosim runs with.
FIRST, CPU, CUDA, DEV, RELEASE = (
    f"requirements{part}.lock" for part in ("", "-cpu", "-cuda", "-dev", "-release")
)
NAME = re.compile(r"[\w.-]+")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared() -> dict[tuple[str, str], None]:
    """Extra, "" for none, and name of each requirement."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    sets = {"": setup["options"]["install_requires"], **setup["options.extras_require"]}
    return {
        (extra, found[0]): None
        for extra, lines in sets.items()
        for line in lines.splitlines()
        if (found := NAME.match(line))
    }


def _rows() -> dict[tuple[str, str], list[str]]:
    """Licence, reason and loss of the page by extra and name."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 4 and cells[0] not in ("package", "extra", "---"):
            extra, name, *rest = cells if len(cells) == 5 else ["", *cells]
            assert (extra.strip("`"), name) not in found
            found[extra.strip("`"), name] = rest
    return found


def _stated_licence(name: str) -> str:
    """The expression of SPDX; else the one classifier; else the field of one line; "" if there is none of these."""
    stated = importlib.metadata.metadata(name)
    classes = [
        line.rpartition(" :: ")[2]
        for line in stated.get_all("Classifier", [])
        if line.startswith("License :: OSI Approved :: ")
    ]
    field = stated.get("License", "")
    candidates = [stated.get("License-Expression", ""), *(classes[:1] if len(classes) == 1 else []), field]
    return next((one for one in candidates if one and "\n" not in one), "")


def _pins(file: str) -> dict[str, str]:
    lines = re.findall(r"^([^\s#=]+)==([^\s\\]+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert len({_normal(name) for name, _ in lines}) == len(lines)
    return {_normal(name): version for name, version in lines}


def test_the_page_has_every_declared_package_with_licence_reason_and_loss():
    rows = _rows()

    assert set(rows) == set(_declared())
    assert [key for key, cells in rows.items() if len(cells) != 3 or "" in cells or "?" in cells] == []


@pytest.mark.parametrize("name", sorted({name for _, name in _declared()}))
def test_licences_are_those_of_the_metadata(name):
    try:
        stated = _stated_licence(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed for tests")

    assert {cells[0] for (_, package), cells in _rows().items() if package == name} == {stated}


def test_every_declared_package_is_pinned():
    assert {_normal(name) for _, name in _declared()} - _pins("constraints.txt").keys() == set()


def test_the_locks_have_the_versions_of_the_constraints_and_hashes_for_each():
    pinned = _pins("constraints.txt")
    locked: dict[str, str] = {}
    for file in (FIRST, CPU, CUDA, DEV, RELEASE):
        pins = _pins(file)
        if file == CPU:
            pins = {name: version.removesuffix("+cpu") for name, version in pins.items()}
        assert {name: pinned.get(name) for name in pins} == pins
        entries = re.split(r"^(?=\w)", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        assert [
            entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}$", entry, re.M)
        ] == []
        locked |= pins

    assert locked == pinned


def test_locks_that_are_installed_together_share_nothing():
    first, cpu, cuda, dev = (_pins(file).keys() for file in (FIRST, CPU, CUDA, DEV))

    assert first & cuda == first & dev == cuda & dev == set()
    assert cpu == {"torch"} < cuda
    assert {_normal(name) for extra, name in _declared() if not extra} - {*first, "torch"} == set()
