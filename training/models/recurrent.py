"""Recurrent networks for text.

On a GPU cuDNN reads a layer's weights as one piece of memory in its own order: the matrices of all layers, then the
biases, at the very start of their storage. A row of the parameter buffer holds them in the order of the model's
parameters and starts within its window, so PyTorch copies them into such a piece in every pass (9 MB with `bilstm`) and
warns once: "RNN module weights are not part of single contiguous chunk of memory". Its advice, `flatten_parameters`,
would move the weights out of the rows that are mixed. cuDNN's order in the rows would be needed on every device, since
ranks on processors and on GPUs exchange rows and checkpoints.
"""

from typing import cast

import torch
from torch import Tensor, nn

HIDDEN = 256
LAYERS = 2


class CharacterGRU(nn.Module):
    """Scores of the next character at each position of a text.

    Parameters
    ----------
    characters : int
        Size of the alphabet.
    embedding : int
        Length of a character's vector.
    """

    def __init__(self, characters: int, *, embedding: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding)
        self.rnn = nn.GRU(embedding, HIDDEN, num_layers=LAYERS, batch_first=True)
        self.output = nn.Linear(HIDDEN, characters)

    def forward(self, text: Tensor) -> Tensor:
        """Return scores, shape (n, length, characters), of an int64 text, shape (n, length)."""
        states = _states(self.rnn, self.embedding(text))
        scores: Tensor = self.output(states)
        return scores


class SequenceLSTM(nn.Module):
    """Class scores of sequences of vectors, read in both directions.

    Parameters
    ----------
    features : int
        Length of one vector.
    """

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.rnn = nn.LSTM(features, HIDDEN, num_layers=LAYERS, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * HIDDEN, classes)

    def forward(self, sequence: Tensor) -> Tensor:
        """Return scores, shape (n, classes), of float sequences, shape (n, length, features)."""
        states = _states(self.rnn, sequence)
        # Vectors of zeros at the end are padding: the forward direction is read where the text ends.
        positions = torch.arange(sequence.shape[1], device=sequence.device)
        end = ((sequence != 0).any(dim=-1) * positions).amax(dim=1)
        forward = torch.take_along_dim(states[..., :HIDDEN], end[:, None, None], dim=1)[:, 0]
        scores: Tensor = self.output(torch.cat([forward, states[:, 0, HIDDEN:]], dim=-1))
        return scores


def _states(layers: nn.RNNBase, sequence: Tensor) -> Tensor:
    """States at each position; in single precision on a processor, also under autocast.

    Notes
    -----
    There torch has no LSTM in bfloat16 but for some processors, elsewhere its error, and a GRU takes eight times as
    long as in single precision.
    """
    with torch.autocast("cpu", enabled=False):
        states, _last = layers(sequence)
    return cast(Tensor, states)


def char_gru(_input_shape: tuple[int, ...], classes: int, *, embedding: int = 16) -> nn.Module:
    """Return the network of Shakespeare (632,484 parameters for an alphabet of 100 characters).

    Parameters
    ----------
    _input_shape : tuple of int
        (length,), unused: the network reads any length.
    classes : int
        Size of the alphabet: a class is the next character.
    embedding : int
        Length of a character's vector.

    Returns
    -------
    torch.nn.Module
        Embedding, two GRU layers of 256 units and the output layer: ``605,184 + 273 * classes`` parameters.

    Notes
    -----
    The published model size, 840 thousand parameters, does not belong to an embedding of 16. It is that of an
    embedding as wide as a GRU layer over the 100 printable characters: ``embedding=256`` has 840,804.
    """
    return CharacterGRU(classes, embedding=embedding)


def bilstm(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return the network of Sentiment140 (2,311,170 parameters for 100 features and 2 classes).

    Parameters
    ----------
    input_shape : tuple of int
        (length, features); the network reads any length.

    Returns
    -------
    torch.nn.Module
        Two bidirectional LSTM layers of 256 units and the output layer. It reads the forward direction at the last
        vector that is not zero and the backward direction at the first position.

    Notes
    -----
    The published model size, 4,810 thousand parameters, counts the word vectors as parameters: 25,002 words (25,000,
    "unknown" and padding) of 100 numbers are 2,500,200, and with one output unit instead of two classes the sum is
    4,810,857. Here word vectors are data: they are given, stay as they are, and are not sent.
    """
    return SequenceLSTM(input_shape[1], classes)
