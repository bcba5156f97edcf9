import numpy as np
import pytest

from topologies.errors import InputError
from training.datasets import DataOptions, load_dataset
from training.readers.sentiment140 import tokenize

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
        "don",
        "'t",
        "42",
        "!",
    ]


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


def test_a_cut_vector_is_named(tmp_path):
    options = write(tmp_path)
    path = tmp_path / "glove.6B.100d.txt"
    path.write_text("bad 1 2 3\n")
    with pytest.raises(InputError, match=r"line 1: word 'bad' must have 100 finite numbers"):
        load_dataset("sentiment140", options)
