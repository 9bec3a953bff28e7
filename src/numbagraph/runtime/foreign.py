"""Arrays of other libraries as NumPy's: by DLPack, which copies nothing, or by ``__array__``."""

from __future__ import annotations

from typing import Any

import numpy as np

READABLE = {1, 3, 11, 13}
"""DLPack's numbers of devices whose memory the CPU can read: its own memory, memory shared with CUDA or ROCm, and
managed memory."""
DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI"}


def numpy_array(leaf: Any, name: str) -> np.ndarray:
    """An array of another library, in the same memory if it can be."""
    require_readable(leaf, name)
    if hasattr(leaf, "__array__"):
        return np.asarray(leaf)
    try:
        return np.from_dlpack(leaf)
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"argument {name} is a {described(leaf)}, which NumPy cannot read: {error}") from error


def require_readable(leaf: Any, name: str) -> None:
    """Raise an error for an array on a device of its own, which would be copied in each call."""
    ask = getattr(type(leaf), "__dlpack_device__", None)
    if ask is None:
        return
    try:
        kind, number = ask(leaf)
    except Exception:  # noqa: BLE001  of an array on several devices it is not said
        return
    if int(kind) not in READABLE:
        device = DEVICES.get(int(kind), f"DLPack's kind {int(kind)}")
        raise TypeError(
            f"argument {name} is a {described(leaf)} on a device ({device}, number {number}), and compiled code reads "
            f"the memory of the CPU: pass a copy there, or run the function where the array is, as "
            f"jax.jit(numbagraph.to_jax(f))"
        )


def described(leaf: Any) -> str:
    kind = type(leaf)
    return f"{kind.__name__} of {kind.__module__.partition('.')[0]}"
