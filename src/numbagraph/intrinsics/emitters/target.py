"""The machine that code is emitted for: this one, unless another is set."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any

from numbagraph.forking import hold_across_fork, importing
from numbagraph.ir.structs import Struct
from numbagraph.times import stage


class Target(Struct):
    """A machine, as LLVM names it."""

    triple: str
    processor: str
    features: str = ""
    """The features that the processor has, and those that it lacks, as in ``+fma,-avx512f``. Emitters learn nothing
    from a name alone."""

    @property
    def has_fma(self) -> bool:
        """Whether fused multiply-add is an instruction. Only x86 has processors in use without it."""
        return not self.is_x86 or self.has("fma")

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith(("x86", "i386", "i486", "i586", "i686"))

    @property
    def is_arm(self) -> bool:
        """Whether it is ARM with 64 bits, on Linux or under Apple's name."""
        return self.triple.startswith(("aarch64", "arm64"))

    @property
    def vector_bytes(self) -> int | None:
        """The width of a vector register, where it does not depend on the machine that runs the code."""
        if not self.is_x86:
            return None
        return 64 if self.has("avx512f") else 32 if self.has("avx") else 16

    def has(self, feature: str) -> bool:
        return f"+{feature}" in self.features.split(",")


@cache
def llvm() -> Any:
    """Return llvmlite's binding to LLVM. To load it takes 15 ms, so it is loaded only when it is needed."""
    with importing, stage("imports"):
        import llvmlite.binding  # noqa: PLC0415

        hold_across_fork(_lock_of(llvmlite.binding))
    return llvmlite.binding


_own_lock: Any = threading.RLock()


def _lock_of(binding: ModuleType) -> Any:
    return getattr(binding.ffi.lib, "_lock", _own_lock)


def llvm_lock() -> Any:
    """Return the lock under which llvmlite runs one call at a time.

    numbagraph holds it across `fork`, so that no child inherits LLVM's data structures in the middle of a change, nor a
    lock whose owner does not exist in the child.
    """
    return _lock_of(llvm())


@cache
def host() -> Target:
    """Return this machine."""
    binding = llvm()
    return Target(binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())


_current: ContextVar[Target | None] = ContextVar("target", default=None)


def current_target() -> Target:
    return _current.get() or host()


@contextmanager
def emitting_for(target: Target) -> Iterator[None]:
    """Emit and compile for another machine, to read its code; or to run it, if this machine can do all of it."""
    token = _current.set(target)
    try:
        yield
    finally:
        _current.reset(token)
