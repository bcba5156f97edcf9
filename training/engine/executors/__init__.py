"""Ways to compute the gradients of all silos of one rank, and the choice between them."""
