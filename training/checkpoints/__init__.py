"""Checkpoints from which a training resumes, and exported models."""
