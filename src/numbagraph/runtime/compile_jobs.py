"""The parts of a module, compiled on several threads."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from numbagraph.intrinsics.emitters.target import llvm, llvm_lock
from numbagraph.runtime.compile import (
    DEFAULT_LEVEL,
    CompileError,
    code_generator,
    compile_module,
    dispose,
    parsed,
    pass_builder,
)


def compile_parts(parts: Sequence[str]) -> list[bytes]:
    """Compile the parts of a module, as many at the same time as there are cores."""
    if len(parts) == 1:
        return [compile_module(parts[0])]
    with llvm_lock():  # which the threads do without, and which keeps others and `fork` out until they end
        jobs: list[CompileJob] = []
        try:
            jobs.extend(CompileJob(part, number) for number, part in enumerate(parts))
            run_all([job.run for job in jobs], threads=min(len(jobs), cores()))
            return [job.object_code() for job in jobs]
        finally:
            for job in jobs:
                job.close()


class CompileJob:
    """A module with a context and a code generator of its own. Only `run` may be called while other jobs run."""

    def __init__(self, module_text: str, number: int) -> None:
        self._machine = code_generator(DEFAULT_LEVEL, number)
        self._context = llvm().create_context()
        self._module = parsed(module_text, self._machine, self._context)
        self._passes = pass_builder(self._machine, DEFAULT_LEVEL)
        self._manager = self._passes.getModulePassManager()
        self._error = llvm().ffi.OutputString()
        self._buffer: Any = None

    def run(self) -> None:
        """Optimise the module, and generate its code: two calls without llvmlite's lock, under which one call runs at a
        time."""
        run_passes, emit = unlocked()
        run_passes(self._manager, self._module, self._passes)
        self._buffer = emit(self._machine, self._module, 1, self._error)

    def object_code(self) -> bytes:
        """The code, once the job has run."""
        if not self._buffer:
            raise CompileError(str(self._error))
        library = llvm().ffi.lib
        return ctypes.string_at(library.LLVMPY_GetBufferStart(self._buffer), library.LLVMPY_GetBufferSize(self._buffer))

    def close(self) -> None:
        """Free what belongs to the job alone, the context last."""
        if self._buffer:
            llvm().ffi.lib.LLVMPY_DisposeMemoryBuffer(self._buffer)
        dispose(self._manager)
        for each in (self._passes, self._module, self._context, self._error):
            each.close()


@cache
def unlocked() -> tuple[Any, Any]:
    """LLVM's passes and its code generator, as functions of llvmlite's library, which may run at the same time for
    modules of different contexts."""
    library = ctypes.CDLL(None, handle=llvm().ffi.lib._handle)
    run_passes, emit = library.LLVMPY_RunNewModulePassManager, library.LLVMPY_TargetMachineEmitToMemory
    run_passes.argtypes, run_passes.restype = (ctypes.c_void_p,) * 3, None
    emit.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    emit.restype = llvm().ffi.LLVMMemoryBufferRef
    return run_passes, emit


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(jobs: Sequence[Callable[[], None]], threads: int) -> None:
    """Run jobs, which raise nothing, on this thread and on others. All have ended when this returns or raises: a signal
    that comes meanwhile ends what has not begun."""
    waiting = list(jobs)

    def work() -> None:
        while waiting:
            try:
                job = waiting.pop(0)
            except IndexError:  # another thread took the last one
                return
            job()

    helpers: list[threading.Thread] = []
    try:
        for _ in range(threads - 1):
            helper = threading.Thread(target=work, name="numbagraph-compile")
            try:
                helper.start()
            except RuntimeError:  # the interpreter ends, or the system has no more threads
                break
            helpers.append(helper)
        work()
    finally:
        waiting.clear()
        for helper in helpers:
            wait_for(helper)


def wait_for(thread: threading.Thread) -> None:
    """Wait until a thread has ended; raise what a signal's handler raised meanwhile."""
    while True:
        try:
            thread.join()
        except BaseException:
            thread.join()
            raise
        return
