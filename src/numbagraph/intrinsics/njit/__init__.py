"""The functions of `numbagraph.intrinsics` for ``@njit`` code."""
