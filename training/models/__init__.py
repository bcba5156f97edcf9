"""Models by name, and their initial or pretrained weights."""

from training.models.named_models import (
    MODELS,
    ModelSpec,
    build_model,
    check_batch_size,
    may_draw,
    model_spec,
)

__all__ = ["MODELS", "ModelSpec", "build_model", "check_batch_size", "may_draw", "model_spec"]
