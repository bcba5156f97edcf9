"""DPASGD on MPI ranks: launcher, worker and communicator."""
