"""Tweets with a mood, by account, as sequences of GloVe vectors."""

import csv
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import IntArray
from topologies.errors import InputError, quoted
from training.data.datasets import DataOptions, Dataset, held_out
from training.data.readers.english_tokens import words_of, words_of_piece
from training.data.readers.files import data_folder, required

TWEETS = "training.1600000.processed.noemoticon.csv"
VECTORS = "glove.6B.100d.txt"
FEATURES = 100
LENGTH = 40
LABELS = {"0": 0, "4": 1}

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
# An account's name starts a word (or follows "RT"), unlike the second half of me@home.com, and has a letter or a digit,
# unlike the emoticon "@_@".
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+|(?:(?<!\w)|(?<=\bRT))@(?=_*[^\W_])\w+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WordVectors:
    """Sequences of word vectors that are looked up when read.

    Parameters
    ----------
    tokens : int32 array, shape (samples, length)
        Rows of `vectors`.
    vectors : float32 array, shape (words + 1, features)
        Row 0 is zero: padding and unknown words.
    """

    tokens: NDArray[np.int32]
    vectors: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of all samples, (samples, length, features)."""
        return (*self.tokens.shape, self.vectors.shape[1])

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.tokens)

    def __getitem__(self, index: Any, /) -> NDArray[np.float32]:
        """Return float32 sequences of an index array or a slice."""
        sequences: NDArray[np.float32] = self.vectors[self.tokens[index]]
        return sequences


def tokenize(text: str) -> list[str]:
    """Return the words and marks of a tweet in small letters; addresses and account names are left out.

    Parameters
    ----------
    text : str
        The tweet, with HTML entities (``&quot;``) as the file has them.

    Returns
    -------
    list of str
        As spaCy's tokenizer for English divides the text (`training.data.readers.english_tokens`), with straight
        apostrophes. Words in capitals are divided like those in small letters where they have an apostrophe.

    Notes
    -----
    The published code reads tweets with spaCy's tokenizer too, but keeps capitals, entities, addresses and account
    names, none of which GloVe's vocabulary has.

    Examples
    --------
    >>> tokenize("@you It's GREAT, I CAN'T wait!! &lt;3 http://x.y")
    ['it', "'s", 'great', ',', 'i', 'ca', "n't", 'wait', '!', '!', '<3']
    """
    plain = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    found: list[str] = []
    for word in words_of(_ADDRESS.sub(" ", plain)):
        small = word.lower().replace("\u2019", "'")
        found.extend(words_of_piece(small) if "'" in small and small != word else (small,))
    return found


def read_vectors(path: Path, words: dict[str, int]) -> tuple[NDArray[np.float32], IntArray]:
    """Return the vectors of the words that occur, reading line by line.

    Parameters
    ----------
    path : pathlib.Path
        Text file: a word and 100 numbers per line.
    words : dict of str to int
        Words that occur and their numbers ``1, 2, ...``.

    Returns
    -------
    vectors : float32 array, shape (known + 1, 100)
        Row 0 is zero.
    rows : IntArray, shape (words + 1,)
        The row of each word's number; 0 where the file lacks the word.
    """
    rows = np.zeros(len(words) + 1, dtype=np.int64)
    found: list[NDArray[np.float32]] = [np.zeros(FEATURES, dtype=np.float32)]
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            word, _, rest = line.partition(" ")
            place = words.get(word)
            if place is None or rows[place]:
                continue
            try:
                vector = np.array(rest.split(), dtype=np.float32)
            except ValueError:
                vector = np.empty(0, dtype=np.float32)
            if vector.size != FEATURES or not np.isfinite(vector).all():
                raise InputError(
                    f"line {number}: word {quoted(word)} must have {FEATURES} finite numbers.",
                    source=str(path),
                )
            rows[place] = len(found)
            found.append(vector)
    return np.stack(found), rows


def sentiment140(options: DataOptions) -> Dataset:
    """Return the tweets as sequences of 40 vectors with 100 features: classes negative and positive, by account.

    Parameters
    ----------
    options : DataOptions
        Folder of the tweets (CSV in Latin-1: target 0 or 4, id, date, query, account, text) and of the vectors.

    Returns
    -------
    Dataset
        Longer tweets are cut, shorter ones padded with zeros at the end; unknown words are zero too. Every fifth
        tweet of each class, in file order, is held out (`training.data.datasets.held_out`).

    Raises
    ------
    InputError
        If a file is missing or a row bad.

    References
    ----------
    A. Go, R. Bhayani, L. Huang, "Twitter Sentiment Classification using Distant Supervision", 2009.
    J. Pennington, R. Socher, C. Manning, "GloVe: Global Vectors for Word Representation", EMNLP 2014.
    """
    folder = data_folder("sentiment140", options)
    path = required("sentiment140", folder / TWEETS)
    glove = required("sentiment140", folder / VECTORS)
    tweets = _read_tweets(path, skip_bad=options.skip_bad)
    vectors, rows = read_vectors(glove, tweets.words)
    if len(vectors) == 1:
        raise InputError("must hold the vector of a word of the tweets.", source=str(glove))
    tokens = rows.astype(np.int32)[tweets.tokens]
    test = held_out(tweets.labels)
    return Dataset(
        train_inputs=WordVectors(tokens=tokens[~test], vectors=vectors),
        train_labels=tweets.labels[~test],
        test_inputs=WordVectors(tokens=tokens[test], vectors=vectors),
        test_labels=tweets.labels[test],
        classes=len(LABELS),
        train_groups=tweets.accounts[~test],
        group_names=tuple(tweets.names),
        label_names=("negative", "positive"),
        skipped=tweets.skipped,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Tweets:
    """What the CSV holds: numbers of words, shape (samples, length), of classes and accounts."""

    tokens: NDArray[np.int32]
    labels: IntArray
    accounts: IntArray
    words: dict[str, int]
    names: dict[str, int]
    skipped: int


def _read_tweets(path: Path, *, skip_bad: bool) -> _Tweets:
    """Read the CSV row by row into packed numbers."""
    words: dict[str, int] = {}
    names: dict[str, int] = {}
    tokens, labels, accounts = bytearray(), bytearray(), bytearray()
    skipped = 0
    sample = np.zeros(LENGTH, dtype=np.int32)
    with path.open(encoding="latin-1", newline="") as lines:
        for number, row in enumerate(_rows(lines, path), 1):
            if len(row) != 6 or row[0] not in LABELS:
                if not skip_bad:
                    raise InputError(_bad_row(number, row), source=str(path))
                skipped += 1
                continue
            found = tokenize(row[5])[:LENGTH]
            sample[: len(found)] = [words.setdefault(word, len(words) + 1) for word in found]
            sample[len(found) :] = 0
            tokens += sample.tobytes()
            labels.append(LABELS[row[0]])
            accounts += names.setdefault(row[4], len(names)).to_bytes(4, "little")
    if not labels:
        raise InputError("must hold tweets, not 0.", source=str(path))
    return _Tweets(
        tokens=np.frombuffer(tokens, dtype=np.int32).reshape(-1, LENGTH),
        labels=np.frombuffer(labels, dtype=np.uint8).astype(np.int64),
        accounts=np.frombuffer(accounts, dtype="<u4").astype(np.int64),
        words=words,
        names=names,
        skipped=skipped,
    )


def _rows(lines: Iterable[str], path: Path) -> Iterator[list[str]]:
    """Iterate over the rows of a CSV file; InputError at a row without an end, as in a file that was cut."""
    number = quotes = opened = 0

    def counted() -> Iterator[str]:
        nonlocal quotes
        for line in lines:
            quotes += line.count('"')
            yield line

    try:
        for row in csv.reader(counted()):
            number, opened, quotes = number + 1, quotes % 2, 0
            yield row
    except csv.Error as error:
        raise InputError(f"row {number + 1}: must be CSV: {error}.", source=str(path)) from error
    if opened:
        raise InputError(f"row {number}: must end its text with a quote; the file was cut.", source=str(path))


def _bad_row(number: int, row: list[str]) -> str:
    """Say what is wrong with a row."""
    if len(row) != 6:
        return f"row {number}: columns(={len(row)}) must be 6: target, id, date, query, account, text."
    return f"row {number}: target(={quoted(row[0])}) must be 0 or 4."
