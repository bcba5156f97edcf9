"""How much memory a training will need, and whether it is there."""
