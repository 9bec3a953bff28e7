"""A name that pickles of before know; it stands in `numbagraph.frontend.pickled`."""

from numbagraph.frontend.pickled import Pickled

__all__ = ["Pickled"]
