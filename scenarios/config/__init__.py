"""Configuration: scenarios, quantities with units, kinds of events, and errors by the keys of the file."""
