"""The error that shapes which do not fit raise; what else there is of shapes stands in `numbagraph.ir.shapes`."""

from numbagraph.ir.shapes import ShapeError

__all__ = ["ShapeError"]
