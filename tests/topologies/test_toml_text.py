"""TOML of users within limits: what is too deep, too long or too large is one line that says so, at once."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from topologies.errors import InputError
from topologies.input_limits import (
    MOST_ENTRIES,
    MOST_KEY_PARTS,
    MOST_NESTED,
    MOST_TOML_BYTES,
    check_size,
)
from topologies.networks.files import read_file
from topologies.networks.network_files import files_named_in, is_network_file
from topologies.toml_text import parse_toml

LONG = ".".join("a" * (MOST_KEY_PARTS + 1))
DEEP = "tables and lists must be nested at most 32 deep."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 900 + "]" * 900, DEEP),
        ("a = " + "[" * 33 + "]" * 33, DEEP),
        ("a = " + "{b = " * 900 + "1" + "}" * 900, DEEP),
        ("a = " + "9" * 5000, "not valid TOML: an integer must have at most 30 digits"),
        ("a = [1, " + "9" * 4000 + "]", "must have at most 30 digits."),
        (f"a = {10**30}", "must have at most 30 digits."),
        (f"\n{LONG} = 1", "the dotted key at line 2 must have at most 32 parts."),
        (f"[{LONG}]", "the dotted key at line 1 must have at most 32 parts."),
        (".".join(["a"] * 100_000) + " = 1", "the dotted key at line 1 must have at most 32 parts."),
        (" . ".join(['"a"'] * 40) + " = 1", "the dotted key at line 1 must have at most 32 parts."),
        ("a = [" + "1," * 300_000 + "]", "a has 300,000 entries, must have at most 20,000."),
        (
            "".join(f"a{i} = 1\n" for i in range(MOST_ENTRIES + 1)),
            "has 20,001 entries, must have at most 20,000.",
        ),
        (
            "#" * (MOST_TOML_BYTES + 1),
            "is too large: it must have at most 1,000,000 bytes (long tables go into CSV",
        ),
        ("a = ", "not valid TOML: Invalid value (at end of document)"),
        ('a = "' + '\\"' * 499_990, "not valid TOML: Unterminated string (at end of document)"),
        ('a = """' + '\\"' * 499_990, "not valid TOML: Unterminated string (at end of document)"),
        ('a = """x' + '""x' * 333_320, "not valid TOML: Unterminated string (at end of document)"),
        ("a = '" + "b." * 499_990, 'not valid TOML: Expected "\'"'),
        ("a = '''" + "'' " * 333_320, "not valid TOML: Expected \"'''\""),
        ("a = [" + "'b', " * 18_000 + '"' + '\\"' * 450_000, "not valid TOML: Unterminated string"),
    ],
    ids=lambda value: value[:12] if value else None,
)
def test_toml_beyond_a_limit_is_refused_at_once(text, said, processor_time_below):
    with processor_time_below(2), pytest.raises(InputError) as refused:
        parse_toml(text, source="s.toml")
    assert str(refused.value).startswith("s.toml: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_toml_up_to_the_limits_is_read():
    nested = "[" * (MOST_NESTED - 1) + "]" * (MOST_NESTED - 1)
    dotted = ".".join("a" * MOST_KEY_PARTS)
    assert parse_toml(f"b = {nested}\n{dotted} = 1")["b"]
    assert parse_toml(f"a = {2**63 - 1}\nb = {-(2**63)}") == {"a": 2**63 - 1, "b": -(2**63)}
    assert len(parse_toml("a = [" + "1," * MOST_ENTRIES + "]")["a"]) == MOST_ENTRIES
    assert parse_toml("#" * MOST_TOML_BYTES) == {}


@pytest.mark.parametrize(
    "value",
    [
        f'"{LONG}"',
        f"'{LONG}'",
        f'"""\n{LONG}\n"""',
        f"'''{LONG}'''",
        f"1 # {LONG}",
        f'"\\"{LONG}"',
        '"""a"" \\""""',
        f'["""a"""", """b""""", "{LONG}"]',
        f"['''a'''', '''b''''', '{LONG}']",
    ],
)
def test_dots_in_texts_and_comments_are_no_keys(value):
    assert len(parse_toml(f"a = {value}\n")) == 1


def test_files_are_not_read_beyond_their_limit(tmp_path):
    with (tmp_path / "zero").open("wb") as file:
        file.truncate(2**40)  # takes no space on the disk, and does not fit into memory
    with pytest.raises(InputError, match=r"^zero: is too large: it must have at most 1,000 bytes\.$"):
        read_file(tmp_path / "zero", "zero", most_bytes=1000)
    check_size(b"12", 2, None)
    (tmp_path / "n.toml").write_text("sites = 's.csv'\n" + "#" * MOST_TOML_BYTES)
    assert not is_network_file(tmp_path / "n.toml")
    with pytest.raises(InputError, match="nested at most 32 deep"):
        files_named_in(Path("n.toml"), b"a = " + b"[" * 900)


@pytest.mark.slow
def test_a_long_dotted_key_takes_no_memory_in_a_process():
    """5 GB before there was a limit; a process of its own, so that its memory can be measured and bounded."""
    code = (
        "from topologies.toml_text import parse_toml\n"
        "try: parse_toml('.'.join(['a'] * 100_000) + ' = 1')\n"
        "except ValueError: print('refused')\n"
    )

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=bounded, check=False
    )
    assert done.stdout == "refused\n"
