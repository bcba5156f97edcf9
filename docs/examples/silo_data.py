"""Data that the programs beside this one train on, drawn anew in each of them; yours take their place."""

import numpy as np

CLASSES, FEATURES = 5, 20


def silo_data(silo):
    """Return the 60 samples of a silo, of two classes of the five, and their labels."""
    rng = np.random.default_rng([1, silo])
    return _samples((silo + rng.integers(2, size=60)) % CLASSES, rng)


def test_data():
    """Return 500 samples of all classes and their labels."""
    return _samples(np.arange(500) % CLASSES, np.random.default_rng(2))


def first_model():
    """Return the weights that every silo starts from, shape (classes, features)."""
    return np.random.default_rng(4).normal(scale=0.5, size=(CLASSES, FEATURES)).astype(np.float32)


def _samples(labels, rng):
    """Return points around the centres of their classes."""
    centres = np.random.default_rng(3).normal(size=(CLASSES, FEATURES))
    return (centres[labels] + 2 * rng.normal(size=(len(labels), FEATURES))).astype(np.float32), labels
