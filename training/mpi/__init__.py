"""DPASGD on MPI ranks: started, talking and ended."""
