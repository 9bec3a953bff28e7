"""A name that pickles of before know; it stands in `numbagraph.frontend.bound_methods`."""

from numbagraph.frontend.bound_methods import _no_methods

__all__ = ["_no_methods"]
