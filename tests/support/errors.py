"""What a call raises, to be compared."""

from collections.abc import Callable, Sequence
from typing import Any


def error_of(function: Callable[..., Any], arrays: Sequence[Any]) -> type[Exception] | None:
    """The type of what a call raises, or None."""
    try:
        function(*arrays)
    except Exception as error:  # noqa: BLE001  whatever it is, it is compared
        return type(error)
    return None
