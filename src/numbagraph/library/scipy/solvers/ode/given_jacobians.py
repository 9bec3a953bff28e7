"""Jacobians of right-hand sides that users give, dense ones and ones in bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.library.scipy.arguments import double
from numbagraph.library.scipy.ode.jacobians_in_bands import dense_of_bands, jacobian_in_bands


def jacobian_of(
    given: Callable[[Any, Any], Any] | None, slope: Callable[[Any, Any], Any], count: Any,
    bands: tuple[int, int] | None, is_transposed: bool = False,
) -> Callable[[Any, Any], Any]:  # fmt: skip
    """Return the Jacobian as a function of time and state: what is given, which has the diagonals of the bands as rows
    where there are bands, or the exact one."""
    if given is None:
        return lambda t, y: jacobian_in_bands(slope, t, y, bands)
    kind = "" if bands is None else "banded "
    size = count if bands is None else bands[0] + bands[1] + 1
    expected = (count, size) if is_transposed else (size, count)

    def jacobian(t: Any, y: Any) -> Any:
        found = double(given(t, y))
        found = found.reshape((1,) * (2 - found.ndim) + found.shape)
        if found.shape != expected:
            raise RuntimeError(f"Expected a {kind}Jacobian array with shape {expected}, but got {found.shape}")
        found = found.T if is_transposed else found
        return found if bands is None else dense_of_bands(found, bands)

    return jacobian
