"""Functions of ndimage."""
