"""How far the closed forms lie from the simulation, and why."""
