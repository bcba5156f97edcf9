"""Files of runs that tests change."""

import h5py

from scenarios.runfile.file_checksum import ATTRIBUTE


def edited(path) -> h5py.File:
    """Open the file of a run to change it, which then says of no checksum, as a file of an earlier version."""
    file = h5py.File(path, "r+")
    file.attrs.pop(ATTRIBUTE, None)
    return file
