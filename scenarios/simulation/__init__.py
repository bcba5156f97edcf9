"""One simulation for all studies: run, collected, its cycle time, its windows and notes."""
