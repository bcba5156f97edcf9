"""What a training keeps: checkpoints to go on from, and models to take away."""
