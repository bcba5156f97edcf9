import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.errors import InputError
from training.data.datasets import DataOptions, load_dataset
from training.data.readers.english_tokens import _class, _codes, _joined, english, words_of, words_of_piece
from training.data.readers.sentiment140 import tokenize

SPACY = Path(__file__).parent / "data/spacy_tokens.json"

ROWS = [
    '"0","1","Mon Apr 06","NO_QUERY","ann","@bob It\'s bad \xe9"',
    '"4","2","Mon Apr 06","NO_QUERY","bob","good, good"',
    '"4","3","Mon Apr 06","NO_QUERY","ann","unheard"',
    '"4","4","Mon Apr 06","NO_QUERY","cy","good"',
    '"4","5","Mon Apr 06","NO_QUERY","cy","good"',
    '"4","6","Mon Apr 06","NO_QUERY","cy","bad"',
]


def write(folder, rows=ROWS, glove=("good", "bad", "never")):
    (folder / "training.1600000.processed.noemoticon.csv").write_text("\n".join(rows), encoding="latin-1")
    lines = [f"{word} {' '.join([str(number + 1)] * 100)}\n" for number, word in enumerate(glove)]
    (folder / "glove.6B.100d.txt").write_text("".join(lines))
    return DataOptions(data=str(folder))


def test_words_are_split_and_addresses_left_out():
    assert tokenize("@a I'm HAPPY, don't http://x.y/z 42!") == [
        "i",
        "'m",
        "happy",
        ",",
        "do",
        "n't",
        "42",
        "!",
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't dont DON'T Don\u2019t", ["do", "n't", "do", "nt", "do", "n't", "do", "n't"]),
        ("I CAN'T, WE'LL, O'BRIEN'S", ["i", "ca", "n't", ",", "we", "'ll", ",", "o'brien", "'s"]),
        ("&quot;yes&quot; &amp; &lt;3 &#39;no&#x27;", ['"', "yes", '"', "&", "<3", "'", "no", "'"]),
        # Without a semicolon it is no entity, and what an entity spells is not read once more.
        ("R&B rock&regret &amp;lt; &nosuch;", ["r&b", "rock&regret", "&", "lt", ";", "&", "nosuch", ";"]),
        ("Beyonc\xe9 na\xefve \xc0 la", ["beyonc\xe9", "na\xefve", "\xe0", "la"]),
        (
            "could've couldve Might've shouldn't've",
            ["could", "'ve", "could", "ve", "might", "'ve", "should", "n't", "'ve"],
        ),
        ("he'd've she's they're I'll", ["he", "'d", "'ve", "she", "'s", "they", "'re", "i", "'ll"]),
        ("10am 3p.m. b. Z. \xb0C.", ["10", "am", "3", "p.m.", "b.", "z.", "\xb0", "c", "."]),
        ("hi :) sad:( :D", ["hi", ":)", "sad", ":(", ":d"]),
        ("RT@ann: .@bob me@home.com @_@ @", ["rt", ":", ".", "me@home.com", "@_@", "@"]),
        ("HTTP://X.Y/z www.a.b @ann_1", []),
        ("  \t\xa0 ", []),
        ("", []),
    ],
)
def test_negations_entities_and_accents_stay_whole(text, tokens):
    assert tokenize(text) == tokens


def test_english_is_divided_as_spacy_divides_it():
    for kept in (words_of_piece, _joined, english):
        kept.cache_clear()  # made by the rules as they are, not by an earlier test
    recorded = json.loads(SPACY.read_text(encoding="utf-8"))["tokens"]
    assert len(recorded) > 700
    assert {text: list(words_of(text)) for text in recorded} == recorded
    # The ends of lists of exceptions, which are recorded too.
    assert list(words_of("could've Shouldve must've 1am 12p.m. 13am 0am")) == [
        *("could", "'ve", "Should", "ve", "must", "'ve", "1", "am", "12", "p.m.", "13am", "0am"),
    ]
    assert list(words_of("Ma'am Doin O'clock A. z. {. `.")) == [
        *("Ma'am", "Doin", "O'clock", "A.", "z.", "{", ".", "`", "."),
    ]


@given(st.text(max_size=40))
def test_dividing_keeps_every_character_but_blanks(text):
    assert "".join(words_of(text)) == "".join(text.split())


def test_tweets_become_padded_vectors_by_account(tmp_path):
    data = load_dataset("sentiment140", write(tmp_path))
    assert data.train_inputs.shape == (5, 40, 100)
    assert data.train_labels.tolist() == [0, 1, 1, 1, 1]
    assert data.test_labels.tolist() == [1]
    assert data.train_groups.tolist() == [0, 1, 0, 2, 2]
    assert data.group_names == ("ann", "bob", "cy")
    batch = data.train_inputs[np.array([1, 0, 2])]
    assert batch.dtype == np.float32
    np.testing.assert_array_equal(batch[0, :4, 0], [1, 0, 1, 0])
    np.testing.assert_array_equal(batch[1, :4, 99], [0, 0, 2, 0])
    assert not batch[2].any()
    assert len(data.train_inputs.vectors) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"2","1","d","q","u","t"', r"row 7: target\(='2'\) must be 0 or 4"),
        ('"0","1"', r"row 7: columns\(=2\) must be 6"),
    ],
)
def test_a_bad_row_is_named_or_counted(tmp_path, row, message):
    options = write(tmp_path, [*ROWS, row])
    with pytest.raises(InputError, match=message):
        load_dataset("sentiment140", options)
    assert load_dataset("sentiment140", DataOptions(data=str(tmp_path), skip_bad=True)).skipped == 1


@pytest.mark.parametrize(
    "vector",
    ["1 2 3", " ".join(["1"] * 99 + ["nan"]), " ".join(["inf"] + ["1"] * 99), "1 x", " ".join("1" * 101)],
)
def test_a_cut_vector_is_named(tmp_path, vector):
    options = write(tmp_path)
    path = tmp_path / "glove.6B.100d.txt"
    path.write_text(f"other words\nbad {vector}\n")
    with pytest.raises(InputError, match=r"line 2: word 'bad' must have 100 finite numbers"):
        load_dataset("sentiment140", options)


def test_classes_of_characters_are_those_of_their_blocks():
    assert list(_codes("41-43 61-61\n1F600-1F601")) == [0x41, 0x42, 0x43, 0x61, 0x1F600, 0x1F601]
    assert _class(set("dba\u00ff")) == r"\U00000061-\U00000062\U00000064-\U00000064\U000000FF-\U000000FF"
    assert _class(set()) == ""


def test_a_tweet_is_cut_after_40_words_and_a_shorter_one_filled_up(tmp_path):
    words = [f"w{number}" for number in range(41)]
    rows = [f'"0","1","d","q","ann","{" ".join(words)}"', '"4","2","d","q","ann","w1 w40"', ROWS[3], ROWS[4]]
    data = load_dataset("sentiment140", write(tmp_path, rows, glove=words))
    first, second = data.train_inputs[:2]
    assert first[:, 0].tolist() == list(range(1, 41))
    # The 41st word was cut off before words were looked up; in the second tweet it is the second one.
    assert second[:, 0].tolist() == [2, 41] + [0] * 38


def test_of_two_vectors_of_a_word_the_first_counts_and_the_second_may_be_anything(tmp_path):
    options = write(tmp_path, glove=("good", "bad"))
    with (tmp_path / "glove.6B.100d.txt").open("a") as file:
        file.write("good 7\nunknown 7\n")
    data = load_dataset("sentiment140", options)
    assert data.train_inputs.vectors[:, 0].tolist() == [0, 1, 2]


def test_what_the_files_of_tweets_and_vectors_must_hold(tmp_path):
    with pytest.raises(
        InputError, match=r"glove\.6B\.100d\.txt: must hold the vector of a word of the tweets\.$"
    ):
        load_dataset("sentiment140", write(tmp_path, glove=("other",)))
    with pytest.raises(InputError, match=r"noemoticon\.csv: must hold tweets, not 0\.$"):
        load_dataset("sentiment140", write(tmp_path, []))
    (tmp_path / "glove.6B.100d.txt").unlink()
    with pytest.raises(
        InputError, match=r"^file\(=\S+glove\.6B\.100d\.txt\) is missing; data must be the sentim"
    ):
        load_dataset("sentiment140", DataOptions(data=str(tmp_path)))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, '"4","7","d","q","cy","cut'], r"row 7: must end its text with a quote; the file was cut\.$"),
        (['"4","7","d","q","cy","a\nb'], r"row 1: must end its text with a quote; the file was cut\.$"),
        (
            [ROWS[0], '"4","7","d","q","cy","x' + "y" * 200_000 + '"'],
            r"row 2: must be CSV: field larger than",
        ),
    ],
)
def test_a_file_of_tweets_that_was_cut_is_named_with_its_last_row(tmp_path, rows, said):
    with pytest.raises(InputError, match=rf"noemoticon\.csv: {said}"):
        load_dataset("sentiment140", write(tmp_path, rows))


def test_a_tweet_may_have_line_feeds_and_quotes_and_each_account_has_its_number(tmp_path):
    names = [f"account{number}" for number in range(300)]
    rows = [f'"0","1","d","q","{name}","good ""bad""\nnever"' for name in names]
    data = load_dataset("sentiment140", write(tmp_path, rows))
    assert data.group_names == tuple(names)
    assert len(data.test_labels) == 60
    assert data.train_groups.tolist() == [number for number in range(300) if number % 5 != 4]
    assert data.train_inputs[:1][0, :6, 0].tolist() == [1, 0, 2, 0, 3, 0]
    assert (data.label_names, data.classes, data.skipped) == (("negative", "positive"), 2, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Marks are cut off at both ends until an exception is left, or nothing to cut.
        ('("don\'t")', ["(", '"', "do", "n't", '"', ")"]),
        ("...", ["..."]),
        ("a.m.!", ["a.m.", "!"]),
        ("(e.g.", ["(", "e.g."]),
        ("$5k", ["$", "5k"]),
        ("5km", ["5", "km"]),
        ("well-known", ["well", "-", "known"]),
        ("-known", ["-known"]),
        ("one...two", ["one", "...", "two"]),
        ("U.S.A.", ["U.S.A."]),
        ("www.x.org/a-b", ["www.x.org/a-b"]),
        ("(www.x.org)", ["(", "www.x.org", ")"]),
        (";):(", [";", "):", "("]),
        # Of signs that overlap the first is put together, and what shares a mark with another one is not.
        ("a;):(", ["a", ";)", ":", "("]),
        ("a:):)", ["a", ":)", ":", ")"]),
        ("x", ["x"]),
    ],
)
def test_marks_are_cut_from_both_ends_and_within(text, words):
    """As spaCy 3.8.18 does, in the recorded file."""
    assert json.loads(SPACY.read_text(encoding="utf-8"))["tokens"][text] == words
    assert list(words_of(text)) == words
