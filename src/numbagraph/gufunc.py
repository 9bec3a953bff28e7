"""Names that pickles and programs of before know; they stand in `numbagraph.frontend.gufunc`."""

from numbagraph.frontend.gufunc import GUFunc, _rebuild, gufunc

__all__ = ["GUFunc", "_rebuild", "gufunc"]
