"""Generated files of every format: each is read or refused in one line, in seconds; so is each past finding."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzzing import Hang, Outcome, fuzzed, generated, problem
from readers import READERS, Reader
from values import Draw

from topologies.errors import InputError

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
QUICK, MANY = 50, 1000
LEAST_PAST_SYNTAX, LEAST_READ = 0.5, 0.1
"""Shares of inputs, below which a generator no longer makes files of its format."""


def _checked(outcome: Outcome, inputs: int) -> None:
    assert list(outcome.findings) == []
    assert outcome.inputs == inputs
    assert outcome.past_syntax >= LEAST_PAST_SYNTAX * inputs
    assert outcome.read >= LEAST_READ * inputs


@pytest.mark.parametrize("name", READERS)
def test_generated_files_are_read_or_refused_in_one_line(name, tmp_path):
    _checked(fuzzed(name, READERS[name], range(QUICK), tmp_path), QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_thousand_generated_files_are_read_or_refused_in_one_line(name, tmp_path):
    _checked(fuzzed(name, READERS[name], range(QUICK, QUICK + MANY), tmp_path), MANY)


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name)
def test_past_findings_stay_mended(file, tmp_path):
    reader = READERS[file.name.split("-")[0]]
    assert problem(reader, file.read_bytes(), tmp_path / reader.file) == ""


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (InputError("one line."), ""),
        (InputError("two\nlines."), ""),  # which the error itself makes one
        (ValueError("bare"), "ValueError at "),
        (Hang(), "Hang at "),
        (MemoryError(), "MemoryError at "),
        (RecursionError(), "RecursionError at "),
        (RuntimeWarning("overflow"), "RuntimeWarning at "),
    ],
    ids=repr,
)
def test_a_failing_reader_is_found(raised, said, tmp_path):
    def read(_path: Path) -> None:
        raise raised

    reader = Reader(file="x", make=lambda _draw: b"", read=read)
    assert problem(reader, b"x", tmp_path / "x").startswith(said)
    assert bool(problem(reader, b"x", tmp_path / "x")) == bool(said)


def test_a_reader_that_does_not_end_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzing.HANG_S", 0.05)

    def read(_path: Path) -> None:
        while True:
            pass

    assert problem(Reader(file="x", make=lambda _draw: b"", read=read), b"", tmp_path / "x").startswith(
        "Hang"
    )


def test_an_input_is_the_same_whenever_it_is_made():
    numbers: Sequence[int] = range(10)
    first = [generated("gml", READERS["gml"], number) for number in numbers]
    assert first == [generated("gml", READERS["gml"], number) for number in numbers]
    assert len(set(first)) == len(first)
    assert Draw("gml 1").random() == Draw("gml 1").random()
