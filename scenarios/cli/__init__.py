"""The commands of ``silosim``: one module for each."""
