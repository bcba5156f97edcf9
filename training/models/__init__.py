"""Models by name, and their initial or pretrained weights."""

from training.models.registry import MODELS, ModelSpec, build_model

__all__ = ["MODELS", "ModelSpec", "build_model"]
