"""LLVM IR text to object code, and object code to callable addresses, with llvmlite alone.

Numba's own code generation does the same in 1.5 times the time, and importing it costs a quarter of a second, so it is
left to calls from ``@njit`` code. Object code holds no address: it names the symbols that it needs, which are bound
when a `Library` loads it. So it can be kept on disk.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import llvmlite

from numbagraph.emit.runtime_calls import LOAD_CHECKED
from numbagraph.intrinsics.emitters.target import Target, current_target, host, llvm, llvm_lock

DEFAULT_LEVEL = 2
"""The level of optimisation. Level 3 gives the same code for loop nests; level 0 compiles 15 times as fast, for code
that is not worth more."""

# LLVM's newer linker takes two thirds of the memory, and returns it, but does not load Windows' object files.
_NEW_LINKER = sys.platform != "win32"


class CompileError(RuntimeError):
    """LLVM refused a module. The emitter is at fault, not the user."""


class LinkError(RuntimeError):
    """Object code could not be loaded: it is damaged, or a symbol that it names does not exist."""


@cache
def _create_machine(target: Target, level: int, _number: int) -> Any:
    binding = llvm()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    if target.triple != host().triple:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    model, relocation = ("small", "pic") if _NEW_LINKER else ("jitdefault", "default")
    return binding.Target.from_triple(target.triple).create_target_machine(
        target.processor, target.features, level, relocation, model, jit=not _NEW_LINKER
    )


def code_generator(level: int, number: int = 0) -> Any:
    """LLVM's code generator for the current target, at no more than the usual level of optimisation. Each of those that
    run at the same time has a ``number`` of its own."""
    with llvm_lock():
        return _create_machine(current_target(), min(level, DEFAULT_LEVEL), number)


@cache
def _create_linker() -> Any:
    machine = _create_machine(host(), DEFAULT_LEVEL, 0)
    return llvm().create_lljit_compiler(machine, use_jit_link=_NEW_LINKER, suppress_errors=True)


def _linker() -> Any:
    """The JIT linker that loads code into this process."""
    with llvm_lock():
        return _create_linker()


def parsed(module_text: str, machine: Any, context: Any = None) -> Any:
    """Read a module, in LLVM's global context if no other is given."""
    try:
        module = llvm().parse_assembly(module_text, context)
        module.verify()
    except RuntimeError as error:
        raise CompileError(str(error)) from None
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def pass_builder(machine: Any, level: int) -> Any:
    """The passes of a level, which `getModulePassManager` puts in their order."""
    options = llvm().create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = level > 0
    options.loop_interleaving = level > 0
    options.loop_unrolling = level > 0
    # Looking for vectors in straight-line code made 1,000 scalar operations compile four times as long, to no effect.
    options.slp_vectorization = False
    return llvm().create_pass_builder(machine, options)


def _optimised(module_text: str, level: int) -> Any:
    machine = code_generator(level)
    module = parsed(module_text, machine)
    passes = pass_builder(machine, level)
    manager = passes.getModulePassManager()
    manager.run(module, passes)
    dispose(manager)
    return module


def dispose(manager: Any) -> None:
    """Free a pass manager, 0.1 MB: llvmlite's own method for that is hidden by one that does nothing."""
    if not manager.closed:
        llvm().newpassmanagers.NewPassManager._dispose(manager)
        manager.detach()


def compile_module(module_text: str, *, opt: int = DEFAULT_LEVEL) -> bytes:
    """Optimise LLVM IR for the current target and return its object code."""
    with llvm_lock(), _optimised(module_text, opt) as module:
        return code_generator(opt).emit_object(module)


def optimised_ir(module_text: str, *, opt: int = DEFAULT_LEVEL) -> str:
    """The module as LLVM IR after optimisation, to be read."""
    with llvm_lock(), _optimised(module_text, opt) as module:
        return str(module)


def assembly(module_text: str, *, opt: int = DEFAULT_LEVEL) -> str:
    """The module as the current target's assembly after optimisation, to be read."""
    with llvm_lock(), _optimised(module_text, opt) as module:
        return code_generator(opt).emit_assembly(module)


class Library:
    """Object code in memory. It is freed with this object, so the holder of an address must keep the library, too."""

    _numbers = itertools.count()

    def __init__(self, object_code: bytes | Sequence[bytes], symbols: Mapping[str, int]) -> None:
        """Load object code, of one module or of several that call each other. ``symbols`` has the addresses of the
        symbols that it needs, except those that libc and libm define."""
        self.loads_loops = LOAD_CHECKED in symbols
        self.calls_others = bool(symbols.keys() - {LOAD_CHECKED})
        """Whether the code calls functions that are neither its own nor of libc or libm."""
        self.keepalive: object = None
        self._linker = _linker()
        self._name = f"numbagraph{next(self._numbers)}"
        builder = llvm().JITLibraryBuilder().add_current_process()
        for each in [object_code] if isinstance(object_code, bytes) else object_code:
            builder.add_object_img(each)
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        try:
            self._tracker = builder.link(self._linker, self._name)
        except RuntimeError as error:
            raise LinkError(f"object code could not be loaded: {error}") from None
        self._found: dict[str, Any] = {}

    def address(self, name: str) -> int:
        """The address of a function or variable that the library defines."""
        with llvm_lock():  # what is looked up a second time takes the place of the first, which then frees the code
            if name not in self._found:
                self._found[name] = self._look_up(name)
            return self._found[name][name]

    def _look_up(self, name: str) -> Any:
        try:
            return self._linker.lookup(self._name, name)
        except RuntimeError as error:
            message = f"symbol {name!r} is not available, or an external symbol that it needs is not: {error}"
            raise LinkError(message) from None


def target_fingerprint() -> str:
    """Everything about the current target and this interpreter that object code depends on, for keys of cached code."""
    target = current_target()
    interpreter = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""), object.__basicsize__)
    versions = (llvmlite.__version__, *llvm().llvm_version_info)
    return repr((target.triple, target.processor, target.features, versions, interpreter))
