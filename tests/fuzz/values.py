"""Values of generated inputs: mostly what a file should hold, sometimes what breaks readers."""

import json
from collections.abc import Sequence
from random import Random

ODD_NUMBERS = (
    *("0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "", "abc", "1e999", "9" * 25, "9" * 5000),
    *(
        "0x10",
        "1_000",
        "1,5",
        "²",
        "٣",
        "1.",
        ".5",
        "+3",
        "--1",
        "1e",
        "1 000",
        "true",
        "null",
        "None",
        "-0",
        "1e-999",
    ),
    *("2147483648", "9223372036854775808", "1000000000000000000"),
)
ODD_TEXTS = (
    *(
        "",
        " ",
        "[/red]",
        "<script>",
        "$x$_{",
        "a,b",
        'q"q',
        "x\ny",
        "\x00",
        "\u202e",
        "A -> B",
        "A - B",
        "a" * 3000,
        "'",
    ),
    *(
        "\ufeffA",
        "#",
        "\\",
        "\t",
        "None",
        "nan",
        "1",
        "*",
        "é" * 50,
        "\U0001d11e",
        "A uplink",
        "=",
        "{silo}",
        "..",
        "/",
    ),
)
LABELS = ("A", "B", "C", "Zürich", "D 1")


class Draw(Random):
    """Random choices; `odd` is the share of values that break rules."""

    odd = 0.04

    def number(self, low: float = 0.0, high: float = 100.0, *, whole: bool = False) -> str:
        """A number as a text."""
        if self.random() < self.odd:
            return self.choice(ODD_NUMBERS)
        return str(self.randint(int(low), int(high))) if whole else f"{self.uniform(low, high):.6g}"

    def label(self, labels: Sequence[str] = LABELS) -> str:
        """The name of a site."""
        return self.choice(ODD_TEXTS) if self.random() < self.odd else self.choice(labels)

    def quantity(self, *units: str) -> str:
        """A number with a unit."""
        return f"{self.number(0.1, 100)}{self.choice((' ', ''))}{self.pick(units, ('', 'x', 'Mbps', 's', '%', 'B'))}"

    def pick(self, usual: Sequence[str], other: Sequence[str] = ODD_TEXTS) -> str:
        """One of the usual texts, sometimes another."""
        return self.choice(other) if self.random() < self.odd else self.choice(usual)

    def flag(self, share: float = 0.5) -> bool:
        """True with this probability."""
        return self.random() < share


def quoted(text: str) -> str:
    """A text in TOML and JSON."""
    return json.dumps(text, ensure_ascii=False)


def cell(text: str) -> str:
    """A cell of CSV."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',;\t"\n') else text


def mutated(draw: Random, data: bytes) -> bytes:
    """Bytes of a file changed in a few places: flipped, cut, doubled, or with a nasty token within."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        place = draw.randrange(len(changed) + 1)
        end = min(len(changed), place + draw.choice((1, 1, 2, 8, 64)))
        what = draw.randrange(6)
        if what == 0 and place < len(changed):
            changed[place] = draw.randrange(256)
        elif what == 1:
            del changed[place:end]
        elif what == 2:
            changed[place:place] = changed[place:end] * draw.choice((1, 1, 2, 50))
        elif what == 3:
            token = draw.choice((*ODD_NUMBERS, *ODD_TEXTS))
            changed[place:end] = token.encode(errors="surrogatepass")
        elif what == 4:
            changed[place:place] = draw.choice(
                (b'"', b"[", b"]", b"{", b"}", b",", b";", b"\n", b"\r", b"\xff", b"\x00")
            )
        else:
            other = draw.randrange(len(changed) + 1)
            changed[place:place] = changed[other : other + 32]
    return bytes(changed)
