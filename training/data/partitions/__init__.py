"""Ways to split the training data over the silos."""

from training.data.partitions.named_partitions import PARTITIONS, split, split_dataset

__all__ = ["PARTITIONS", "split", "split_dataset"]
