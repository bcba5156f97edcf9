"""Ways to split the training data over the silos."""

from training.data.partitions.from_file import is_partition_file
from training.data.partitions.named_partitions import PARTITIONS, split, split_dataset

__all__ = ["PARTITIONS", "is_partition_file", "split", "split_dataset"]
