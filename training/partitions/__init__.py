"""Ways to split the training data over the silos."""

from training.partitions.registry import PARTITIONS, split, split_dataset

__all__ = ["PARTITIONS", "split", "split_dataset"]
