"""Tables of a scenario are written as TOML that reads back as the same."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.toml import tables_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(tables=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_tables_read_back_as_they_are(tables):
    assert tomllib.loads(tables_text(tables)) == tables


def test_tables_have_lines_of_their_own():
    tables = {
        "simulation": {"rounds": 3, "failure": [{"link": "A - B"}]},
        "seed": 1,
        "overlays": [{"kind": "ring"}],
    }

    assert tables_text(tables) == (
        'seed = 1\n\n[simulation]\nrounds = 3\nfailure = [{ "link" = "A - B" }]\n\n[[overlays]]\nkind = "ring"\n'
    )
