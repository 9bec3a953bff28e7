"""Checks that the sizes of a program can be represented: lengths of several arguments may have a product or a sum
beyond 2**63, which would wrap to a small one. (Arrays that repeat one element may be that long without memory.)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from llvmlite import ir

from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitters.emitter import I1, I64
from numbagraph.intrinsics.emitters.ir import Apply, Buffer, Literal, Register, Scalar, register, walk
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Input, Node, Value
from numbagraph.loops.ir import Compute, Kernel, Program

MOST = 2**63 - 1
TOO_BIG = "array is too big: its size, or the number of its elements, is more than 2**63"


class Unbounded(Struct):
    """The lengths and sizes that must be checked when a program runs."""

    lengths: tuple[Apply, ...]
    """The sums and products that give lengths of arrays."""
    sizes: tuple[tuple[int, tuple[Scalar, ...]], ...]
    """The numbers of bytes, or of iterations, as products."""

    def __bool__(self) -> bool:
        return bool(self.lengths or self.sizes)


def unbounded(program: Program, leaves: Sequence[Input]) -> Unbounded:
    """The lengths and sizes that are not bounded by the size of some argument."""
    bounds = [
        (Counter[Scalar](map(register, symbols_of(each.shape))), each.dtype.itemsize) for each in leaves if each.ndim
    ]
    kernels = [step for step in program.body.members() if isinstance(step, Kernel)]
    sizes = [(buffer.dtype.itemsize, buffer.extents) for slot in program.body.slots for buffer in slot]
    results = [each for each in program.results if isinstance(each, Buffer) and not has_length_alone(each)]
    sizes += [(each.dtype.itemsize, each.extents) for each in results]
    sizes += [(1, kernel.lengths) for kernel in kernels]
    none: tuple[Counter[Scalar], int] = (Counter(), MOST)
    left = dict.fromkeys(each for each in sizes if not any(is_within(*each, *bound) for bound in (none, *bounds)))
    lengths = [extent for extents in program.entry.extents for extent in extents]
    lengths += [extent for _, extents in sizes for extent in extents]
    return Unbounded(tuple(sums_and_products(program.entry.prologue, lengths)), tuple(left))


def has_length_alone(result: Buffer) -> bool:
    """Whether a result has one dimension whose length follows from others: NumPy itself checks those, without naming a
    line."""
    last = result.extents[-1] if len(result.extents) == 1 else None
    return isinstance(last, Register) and shapes.follows_from_lengths(last.value)


def symbols_of(shape: Iterable[object]) -> list[Value]:
    return [each for each in map(shapes.resolve, shape) if isinstance(each, Value)]  # type: ignore[arg-type]


def is_within(factor: int, extents: Sequence[Scalar], bound: Counter[Scalar], itemsize: int) -> bool:
    """Whether a product is at most the size of an array of some lengths."""
    known = [each for each in extents if isinstance(each, Literal)]
    for each in known:
        factor *= max(int(each.value), 1)
    others = Counter(each for each in extents if not isinstance(each, Literal))
    return (factor <= itemsize and others <= bound) or (factor == 1 and others.total() < 2)


def sums_and_products(prologue: Sequence[Compute], lengths: Iterable[Scalar]) -> list[Apply]:
    """The sums and products that some lengths follow from. A constant that is added to a length needs no check: the
    length is negative if it wraps."""
    known = {step.value: step.scalar for step in prologue}
    found: dict[Apply, None] = {}
    stack, seen = list(lengths), set[Scalar]()
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        for each in walk([top]):
            if isinstance(each, Register) and each.value in known:
                stack.append(known[each.value])
                scalar = known[each.value]
                if isinstance(scalar, Apply) and isinstance(each.value, Node) and may_wrap(each.value, scalar):
                    found[scalar] = None
    return list(found)


def may_wrap(value: Node, scalar: Apply) -> bool:
    if value.dtype != INT64:
        return False
    if scalar.name == "multiply":
        return True
    has_number = any(isinstance(each, Literal) for each in scalar.arguments)
    return scalar.name == "add" and not has_number and shapes.follows_from_lengths(value)


def too_big(code: StraightLine, program: Program) -> ir.Value | None:
    """Whether any length or size is no number of 63 bits; None if there is nothing to check."""
    found = unbounded(program, code.leaves)
    if not found:
        return None
    builder, failed = code.code.builder, ir.Constant(I1, 0)

    def checked(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        nonlocal failed
        pair = code.code.builder.call(overflowing(code, name), [left, right])
        failed = builder.or_(failed, builder.extract_value(pair, 1))
        return builder.extract_value(pair, 0)

    for each in found.lengths:
        left, right = (code.scalar(argument) for argument in each.arguments)
        checked({"add": "sadd", "multiply": "smul"}[each.name], left, right)
    one = ir.Constant(I64, 1)
    for factor, extents in found.sizes:
        product: ir.Value = ir.Constant(I64, factor)
        for extent in map(code.scalar, extents):  # no elements are as good as one, as in NumPy
            some = builder.select(builder.icmp_signed("<", extent, one), one, extent)
            product = checked("smul", product, some)
    return failed


def overflowing(code: StraightLine, name: str) -> ir.Function:
    """An operation that tells whether its result has wrapped."""
    symbol, module = f"llvm.{name}.with.overflow.i64", code.function.module
    found = module.globals.get(symbol)
    if isinstance(found, ir.Function):
        return found
    return ir.Function(module, ir.FunctionType(ir.LiteralStructType([I64, I1]), [I64, I64]), symbol)
