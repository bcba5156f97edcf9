"""Signals, launchers and progress of a running command."""
