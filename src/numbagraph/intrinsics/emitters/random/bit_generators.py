"""NumPy's bit generators as functions of a state in memory, which may be inlined, and `bitgen_t` records of them.

A state is words of 64 bits, in the order of `WORDS`; `numbagraph.ops.random.generator_states` converts it from and to
NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import F64, I1, I32, I64, POINTER, Emitter

I128 = ir.IntType(128)
UPPER = 624
"""The number of 32-bit words of the state of `MT19937`."""
WORDS = {"PCG64": 5, "PCG64DXSM": 5, "SFC64": 5, "Philox": 12, "MT19937": UPPER // 2 + 1}
"""The number of words of a state. The last one has 32 bits that are left over, and below them a flag for whether there
are any; for `MT19937` it is a position."""


class Functions(NamedTuple):
    """The functions of ``bitgen_t``, which take the address of a state."""

    next_uint64: ir.Function
    next_uint32: ir.Function
    next_double: ir.Function


class State:
    """The words of a state, and arithmetic on them, in a function that is being emitted."""

    def __init__(self, builder: ir.IRBuilder, address: ir.Value) -> None:
        self.builder = builder
        self.address = address

    def place(self, number: int | ir.Value, type_: ir.Type = I64) -> ir.Value:
        index = number if isinstance(number, ir.Value) else ir.Constant(I64, number)
        return self.builder.gep(self.builder.bitcast(self.address, type_.as_pointer()), [index], inbounds=True)

    def load(self, number: int | ir.Value, type_: ir.Type = I64) -> ir.Value:
        found = self.builder.load(self.place(number, type_))
        found.align = 4 if type_ == I32 else 8
        return found

    def store(self, number: int | ir.Value, value: ir.Value) -> None:
        place = self.place(number, value.type)
        self.builder.store(value, place).align = 4 if value.type == I32 else 8

    def shifted(self, value: ir.Value, count: int) -> ir.Value:
        """Shift to the right; to the left by a negative count."""
        shift = self.builder.lshr if count > 0 else self.builder.shl
        return shift(value, ir.Constant(value.type, abs(count)))

    def mixed(self, value: ir.Value, count: int, mask: int = -1) -> ir.Value:
        """Return ``value ^ (value >> count & mask)``."""
        other = self.shifted(value, count)
        if mask != -1:
            other = self.builder.and_(other, ir.Constant(value.type, mask))
        return self.builder.xor(value, other)

    def rotated(self, value: ir.Value, count: ir.Value) -> ir.Value:
        """Rotate to the left."""
        return Emitter(self.builder).intrinsic("fshl", value, value, count)

    def halves(self, wide: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return the upper and the lower half."""
        upper = self.builder.trunc(self.shifted(wide, 64), I64)
        return upper, self.builder.trunc(wide, I64)

    def product(self, value: ir.Value, factor: int) -> tuple[ir.Value, ir.Value]:
        """Return the halves of a product of two words."""
        return self.halves(self.builder.mul(self.builder.zext(value, I128), ir.Constant(I128, factor)))


# ---- the next 64 bits ----


def advance(state: State, factor: int) -> tuple[ir.Value, ir.Value]:
    """Take a step of a linear congruential generator, and return the states before and after it."""
    builder = state.builder
    before, after = state.load(0, I128), state.load(1, I128)
    after = builder.add(builder.mul(before, ir.Constant(I128, factor)), after)
    state.store(0, after)
    return before, after


def pcg64(state: State) -> ir.Value:
    """Return the next 64 bits: O'Neill, PCG: A family of simple fast space-efficient statistically good algorithms
    (2014): XSL RR 128/64."""
    builder = state.builder
    upper, lower = state.halves(advance(state, 0x2360ED051FC65DA44385DF649FCCF645)[1])
    right = state.shifted(upper, 58)
    return Emitter(builder).intrinsic("fshr", *[builder.xor(upper, lower)] * 2, right)


def pcg64_dxsm(state: State) -> ir.Value:
    """Return the next 64 bits of the variant with a cheap factor and a stronger output function, which takes the state
    before the step."""
    builder, factor = state.builder, 0xDA942042E4DD58B5
    upper, lower = state.halves(advance(state, factor)[0])
    lower = builder.or_(lower, ir.Constant(I64, 1))
    upper = builder.mul(state.mixed(upper, 32), ir.Constant(I64, factor))
    return builder.mul(state.mixed(upper, 48), lower)


def sfc64(state: State) -> ir.Value:
    """Return the next 64 bits: Doty-Humphrey, Practically random (2014): Small Fast Chaotic."""
    builder = state.builder
    first, second, third, counter = map(state.load, range(4))
    found = builder.add(builder.add(first, second), counter)
    state.store(3, builder.add(counter, ir.Constant(I64, 1)))
    state.store(0, state.mixed(second, 11))
    state.store(1, builder.add(third, state.shifted(third, -3)))
    state.store(2, builder.add(state.rotated(third, ir.Constant(I64, 24)), found))
    return found


PHILOX_FACTORS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
PHILOX_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B


def following(builder: ir.IRBuilder, counter: Sequence[ir.Value], step: ir.Value) -> list[ir.Value]:
    """Return a counter of several words, the lowest first, after some steps."""
    found = []
    for word in counter:
        changed = builder.add(word, step)
        step = builder.zext(builder.icmp_unsigned("<", changed, step), I64)  # the carry
        found.append(changed)
    return found


def philox_block(state: State, counter: Sequence[ir.Value]) -> list[ir.Value]:
    """Return the four words of a counter."""
    builder, keys = state.builder, [state.load(4), state.load(5)]
    for _ in range(10):
        upper, lower = zip(*map(state.product, counter[::2], PHILOX_FACTORS), strict=True)
        mixed = [builder.xor(builder.xor(upper[1 - n], counter[2 * n + 1]), keys[n]) for n in (0, 1)]
        counter = [mixed[0], lower[1], mixed[1], lower[0]]
        keys = [builder.add(key, ir.Constant(I64, step)) for key, step in zip(keys, PHILOX_STEPS, strict=True)]
    return list(counter)


def philox(state: State) -> ir.Value:
    """Return the next 64 bits: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011): 4 words, 10
    rounds."""
    builder = state.builder
    first, position = 6, state.load(10)
    with builder.if_then(builder.icmp_unsigned(">=", position, ir.Constant(I64, 4)), likely=False):
        counter = following(builder, [state.load(number) for number in range(4)], ir.Constant(I64, 1))
        for number, word in enumerate(counter):
            state.store(number, word)
        for number, word in enumerate(philox_block(state, counter)):
            state.store(first + number, word)
        state.store(10, ir.Constant(I64, 0))
    position = state.load(10)
    state.store(10, builder.add(position, ir.Constant(I64, 1)))
    return state.load(builder.add(position, ir.Constant(I64, first)))


def twister(state: State) -> ir.Value:
    """Return the next 32 bits. Matsumoto and Nishimura, Mersenne twister (1998)."""
    builder, last = state.builder, UPPER // 2
    with builder.if_then(builder.icmp_unsigned(">=", state.load(last), ir.Constant(I64, UPPER)), likely=False):
        twist(state)
        state.store(last, ir.Constant(I64, 0))
    position = state.load(last)
    state.store(last, builder.add(position, ir.Constant(I64, 1)))
    return tempered(state, position)


def tempered(state: State, position: ir.Value) -> ir.Value:
    """Return the 32 bits at a position of the Mersenne twister."""
    number = state.mixed(state.load(position, I32), 11)
    number = state.mixed(state.mixed(number, -7, 0x9D2C5680), -15, 0xEFC60000)
    return state.mixed(number, 18)


def twist(state: State) -> None:
    """Make all numbers of the Mersenne twister anew, in place."""
    builder, apart = state.builder, 397

    def number(k: ir.Value, following: int, other: int) -> ir.Value:
        upper = builder.and_(state.load(k, I32), ir.Constant(I32, 0x80000000))
        lower = state.load(builder.add(k, ir.Constant(I64, following)), I32)
        joined = builder.or_(upper, builder.and_(lower, ir.Constant(I32, 0x7FFFFFFF)))
        is_odd = builder.trunc(joined, I1)
        twisted = builder.select(is_odd, ir.Constant(I32, 0x9908B0DF), ir.Constant(I32, 0))
        far = state.load(builder.add(k, ir.Constant(I64, other)), I32)
        return builder.xor(builder.xor(far, state.shifted(joined, 1)), twisted)

    def run(start: int, stop: int, other: int) -> None:
        def step(k: ir.Value) -> list[ir.Value]:
            state.store(k, number(k, 1, other))
            return [builder.add(k, ir.Constant(I64, 1))]

        end = ir.Constant(I64, stop)
        Emitter(builder).repeat([ir.Constant(I64, start)], lambda k: builder.icmp_unsigned("<", k, end), step)

    run(0, UPPER - apart, apart)
    run(UPPER - apart, UPPER - 1, apart - UPPER)
    last = ir.Constant(I64, UPPER - 1)
    state.store(last, number(last, 1 - UPPER, apart - UPPER))


STEPS: dict[str, Callable[[State], ir.Value]] = {
    "PCG64": pcg64,
    "PCG64DXSM": pcg64_dxsm,
    "SFC64": sfc64,
    "Philox": philox,
    "MT19937": twister,
}


# ---- the functions ----


def functions_of(module: ir.Module, kind: str) -> Functions:
    """Return the functions of a bit generator, in a module that has them once."""
    names = [f"{kind}.next_uint64", f"{kind}.next_uint32", f"{kind}.next_double"]
    if names[0] in module.globals:
        known: list[Any] = [module.globals[each] for each in names]
        return Functions(*known)
    types = (I64, I32, F64)
    made = [
        ir.Function(module, ir.FunctionType(*each), name)
        for each, name in zip([(t, [POINTER]) for t in types], names, strict=True)
    ]
    found = Functions(*made)
    bodies = twister_functions(found) if kind == "MT19937" else word_functions(found, kind)
    for function, body in zip(found, bodies, strict=True):
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        builder.ret(body(State(builder, function.args[0])))
    return found


Bodies = tuple[Callable[[State], ir.Value], ...]


def word_functions(found: Functions, kind: str) -> Bodies:
    """Return the functions of a generator that makes 64 bits at a time; a request for 32 bits keeps the other 32 for
    the next one."""
    left = WORDS[kind] - 1

    def next_uint32(state: State) -> ir.Value:
        builder = state.builder
        kept, above = state.load(left), ir.Constant(I64, -(2**32))
        with builder.if_then(builder.trunc(kept, I1)):
            state.store(left, builder.and_(kept, above))
            builder.ret(builder.trunc(state.shifted(kept, 32), I32))
        word = builder.call(found.next_uint64, [state.address])
        state.store(left, builder.or_(builder.and_(word, above), ir.Constant(I64, 1)))
        return builder.trunc(word, I32)

    def next_double(state: State) -> ir.Value:
        word = state.shifted(state.builder.call(found.next_uint64, [state.address]), 11)
        return state.builder.fmul(state.builder.uitofp(word, F64), ir.Constant(F64, 2.0**-53))

    return STEPS[kind], next_uint32, next_double


def twister_functions(found: Functions) -> Bodies:
    """Return the functions of a generator that makes 32 bits at a time."""

    def next_uint64(state: State) -> ir.Value:
        builder = state.builder
        upper, lower = (builder.zext(builder.call(found.next_uint32, [state.address]), I64) for _ in range(2))
        return builder.or_(state.shifted(upper, -32), lower)

    def next_double(state: State) -> ir.Value:
        builder = state.builder
        upper, lower = (
            builder.uitofp(state.shifted(builder.call(found.next_uint32, [state.address]), count), F64)
            for count in (5, 6)
        )
        whole = builder.fadd(builder.fmul(upper, ir.Constant(F64, 2.0**26)), lower)
        return builder.fmul(whole, ir.Constant(F64, 2.0**-53))

    return next_uint64, STEPS["MT19937"], next_double


def record_of(builder: ir.IRBuilder, kind: str, address: ir.Value) -> ir.Value:
    """Return the address of a ``bitgen_t`` (numpy/random/bitgen.h) on the stack, with a state and its functions."""
    found = functions_of(builder.module, kind)
    raw = found.next_uint32 if kind == "MT19937" else found.next_uint64
    entries = (address, *found, raw)
    with builder.goto_entry_block():
        record = builder.alloca(ir.ArrayType(POINTER, len(entries)))
    for number, each in enumerate(entries):
        place = builder.gep(record, [ir.Constant(I32, 0), ir.Constant(I32, number)], inbounds=True)
        builder.store(builder.bitcast(each, POINTER), place)
    return builder.bitcast(record, POINTER)
