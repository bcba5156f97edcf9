"""Studies: each joins topologies, simulator and training to answer one question."""
