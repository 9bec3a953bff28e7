"""The usual case of NumPy's ziggurats (Marsaglia and Tsang, The ziggurat method for generating random variables, 2000)
as code in a loop, whose state is in registers.

Where a number is in a corner of a layer, which one in a hundred is, the step is undone, and NumPy's function draws it.
The tables of layers are Numba's copy of NumPy's: data of a file that imports nothing of Numba.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import ir

from numbagraph.intrinsics.bit_generators import STEPS, UPPER, WORDS, State, tempered, twist
from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import F64, I1, I64, POINTER
from numbagraph.intrinsics.matrices import Index

UNDONE = {"PCG64": range(2), "PCG64DXSM": range(2), "SFC64": range(4), "Philox": range(10, 11)}
"""The words that undo a step when they are put back. (A step of `Philox` that makes four numbers leaves them there.)"""


@cache
def tables() -> Any:
    """Numba's module of constants, without Numba."""
    package = importlib.util.find_spec("numba")
    assert package is not None
    assert package.origin is not None
    path = Path(package.origin).with_name("np") / "random" / "_constants.py"
    spec = importlib.util.spec_from_file_location("numbagraph._constants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry(builder: ir.IRBuilder, name: str, place: ir.Value, type_: ir.Type) -> ir.Value:
    """An element of a table."""
    found = builder.module.globals.get(name)
    if found is None:
        numbers = getattr(tables(), name).tolist()
        array = ir.ArrayType(type_, len(numbers))
        found = ir.GlobalVariable(builder.module, array, name)
        found.linkage, found.global_constant = "internal", True
        found.initializer = ir.Constant(array, numbers)
    return builder.load(builder.gep(found, [ir.Constant(I64, 0), place], inbounds=True))


Usual = Callable[[State, ir.Value], tuple[ir.Value, ir.Value]]
"""From 64 random bits a number, and whether it is one."""


def layer(state: State, word: ir.Value, letter: str, mask: int) -> tuple[ir.Value, ir.Value, ir.Value]:
    """A number of a layer that is chosen by the last 8 bits, whether it is inside, and the bits behind these."""
    builder = state.builder
    number, rest = builder.and_(word, ir.Constant(I64, 0xFF)), state.shifted(word, 8)
    bits = rest if mask == -1 else builder.and_(state.shifted(rest, 1), ir.Constant(I64, mask))
    width = entry(builder, f"w{letter}_double", number, F64)
    inside = builder.icmp_unsigned("<", bits, entry(builder, f"k{letter}_double", number, I64))
    return builder.fmul(builder.uitofp(bits, F64), width), inside, rest


def normal(state: State, word: ir.Value) -> tuple[ir.Value, ir.Value]:
    builder = state.builder
    found, inside, rest = layer(state, word, "i", 0x000FFFFFFFFFFFFF)
    is_negative = builder.trunc(rest, I1)
    return builder.select(is_negative, builder.fneg(found), found), inside


def exponential(state: State, word: ir.Value) -> tuple[ir.Value, ir.Value]:
    found, inside, _ = layer(state, state.shifted(word, 3), "e", -1)
    return found, inside


def uniform(state: State, word: ir.Value) -> tuple[ir.Value, ir.Value]:
    found = state.builder.uitofp(state.shifted(word, 11), F64)
    return state.builder.fmul(found, ir.Constant(F64, 2.0**-53)), ir.Constant(I1, 1)


class Inlined(NamedTuple):
    """What numbers of a distribution usually are, and NumPy's function for one of them."""

    usual: Usual
    function: str


INLINED = {
    "random_standard_uniform_fill": Inlined(uniform, "random_standard_uniform"),
    "random_standard_normal_fill": Inlined(normal, "random_standard_normal"),
    "random_standard_exponential_fill": Inlined(exponential, "random_standard_exponential"),
}


def inlined(function: str, kind: str) -> Inlined | None:
    """How numbers of a function of NumPy's are drawn in a loop, if they are. `MT19937` makes its uniform numbers of
    other bits."""
    return None if kind == "MT19937" and function == "random_standard_uniform_fill" else INLINED.get(function)


def fill(element: Element, chosen: Inlined, kind: str, place: ir.Value, draw_one: Callable[[str], ir.Value]) -> None:
    """Store numbers. ``draw_one`` calls a function of C on the state in memory."""
    make = twisted if kind == "MT19937" else in_registers
    make(element, chosen, kind, place, draw_one)


def twisted(element: Element, chosen: Inlined, kind: str, place: ir.Value, draw_one: Callable[[str], ir.Value]) -> None:
    """The same with a state that stays in memory: a number takes two words of 32 bits. Where a number would take the
    last one, and the first one of those that are made anew, there is no way back: NumPy's function draws it."""
    builder, state, last = element.builder, State(element.builder, element.results[1]), WORDS[kind] - 1
    with builder.goto_entry_block():
        slot = builder.alloca(F64)

    def step(k: Index) -> None:
        with builder.if_then(builder.icmp_unsigned(">=", state.load(last), ir.Constant(I64, UPPER)), likely=False):
            twist(state)
            state.store(last, ir.Constant(I64, 0))
        position = state.load(last)
        following = builder.add(position, ir.Constant(I64, 1))
        is_whole = builder.icmp_unsigned("<", following, ir.Constant(I64, UPPER))
        second = builder.select(is_whole, following, position)
        upper, lower = (builder.zext(tempered(state, each), I64) for each in (position, second))
        number, inside = chosen.usual(state, builder.or_(state.shifted(upper, -32), lower))
        is_usual = builder.and_(is_whole, inside)
        builder.store(number, slot)
        with builder.if_else(is_usual, likely=True) as (usual, unusual):
            with usual:
                state.store(last, builder.add(following, ir.Constant(I64, 1)))
            with unusual:
                builder.store(draw_one(chosen.function), slot)
        builder.store(builder.load(slot), builder.gep(place, [k.register]))

    element.code.loop(0, element["n"], step)


def in_registers(
    element: Element, chosen: Inlined, kind: str, place: ir.Value, draw_one: Callable[[str], ir.Value]
) -> None:
    """The same with the state in registers."""
    builder, words, memory = element.builder, WORDS[kind], element.results[1]
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(I64, words))
        slot = builder.alloca(F64)
        room.align = 16
    own, shared = State(builder, builder.bitcast(room, POINTER)), State(builder, memory)

    def copy(source: State, target: State) -> None:
        for number in range(words):
            target.store(number, source.load(number))

    def step(k: Index) -> None:
        before = {} if kind == "Philox" else {number: own.load(number) for number in UNDONE[kind]}
        number, inside = chosen.usual(own, STEPS[kind](own))
        builder.store(number, slot)
        with builder.if_then(builder.not_(inside), likely=False):
            if kind == "Philox":
                (position,) = UNDONE[kind]
                before = {position: builder.sub(own.load(position), ir.Constant(I64, 1))}
            copy(own, shared)
            for word, value in before.items():
                shared.store(word, value)
            builder.store(draw_one(chosen.function), slot)
            copy(shared, own)
        builder.store(builder.load(slot), builder.gep(place, [k.register]))

    copy(shared, own)
    element.code.loop(0, element["n"], step)
    copy(own, shared)
