"""Models by name, and their initial or pretrained weights."""

from training.models.registry import MODELS, ModelSpec, build_model, check_batch_size

__all__ = ["MODELS", "ModelSpec", "build_model", "check_batch_size"]
