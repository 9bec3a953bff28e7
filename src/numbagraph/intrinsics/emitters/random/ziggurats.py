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

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import F32, F64, I1, I32, I64, POINTER
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.intrinsics.emitters.random.bit_generators import STEPS, WORDS, State
from numbagraph.intrinsics.emitters.random.buffered_words import KINDS

UNDONE = {"PCG64": range(2), "PCG64DXSM": range(2), "SFC64": range(4)}
"""The words that undo a step when they are put back."""


@cache
def tables() -> Any:
    """Return Numba's module of constants, without Numba."""
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
    """Return an element of a table."""
    found = builder.module.globals.get(name)
    if found is None:
        numbers = getattr(tables(), name).tolist()
        array = ir.ArrayType(type_, len(numbers))
        found = ir.GlobalVariable(builder.module, array, name)
        found.linkage, found.global_constant = "internal", True
        found.initializer = ir.Constant(array, numbers)
    return builder.load(builder.gep(found, [ir.Constant(I64, 0), place], inbounds=True))


Usual = Callable[[State, ir.Value], tuple[ir.Value, ir.Value]]
"""A function from 64 random bits to a number, and whether it is valid."""


def layer(state: State, word: ir.Value, letter: str, mask: int) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Return a number of the layer that the last 8 bits choose, whether it is inside, and the bits behind these."""
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


def uniform_of_halves(state: State, word: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return a uniform number as `MT19937` makes it: from 27 bits of the upper half, and 26 of the lower one."""
    builder = state.builder
    upper = state.shifted(state.shifted(word, 37), -26)
    lower = state.shifted(builder.and_(word, ir.Constant(I64, 2**32 - 1)), 6)
    found = builder.uitofp(builder.or_(upper, lower), F64)
    return builder.fmul(found, ir.Constant(F64, 2.0**-53)), ir.Constant(I1, 1)


class Inlined(NamedTuple):
    """The usual formula for numbers of a distribution, and the name of NumPy's function for one of them."""

    usual: Usual
    function: str


INLINED = {
    "random_standard_uniform_fill": Inlined(uniform, "random_standard_uniform"),
    "random_standard_normal_fill": Inlined(normal, "random_standard_normal"),
    "random_standard_exponential_fill": Inlined(exponential, "random_standard_exponential"),
}


def inlined(function: str, kind: str) -> Inlined | None:
    """Return the way to draw numbers of a function of NumPy's in a loop; None if they are not drawn so."""
    found = INLINED.get(function)
    if found is not None and found.usual is uniform and kind == "MT19937":
        return found._replace(usual=uniform_of_halves)
    return found


def fill(element: Element, chosen: Inlined, kind: str, place: ir.Value, draw_one: Callable[[str], ir.Value]) -> None:
    """Store numbers. ``draw_one`` calls a function of C on the state in memory."""
    if kind in KINDS:
        buffered(element, chosen, kind, place, draw_one)
        return

    def usual(state: State, k: Index, slot: ir.Value) -> ir.Value:
        del k
        number, inside = chosen.usual(state, STEPS[kind](state))
        element.builder.store(number, slot)
        return inside

    in_registers(element, kind, (place, F64), usual, lambda k: draw_one(chosen.function))


def buffered(
    element: Element, chosen: Inlined, kind: str, place: ir.Value, draw_one: Callable[[str], ir.Value]
) -> None:
    """Draw from words that are made many at a time. Whenever C is called, the state in memory is that after these
    draws."""
    builder, emitter, n = element.builder, element.emitter, element["n"].register
    words = KINDS[kind](emitter, State(builder, element.results[1]))
    one = ir.Constant(I64, 1)

    def draw(k: ir.Value, e: ir.Value) -> ir.Value:
        number, inside = chosen.usual(words.state, words.word(e))
        builder.store(number, builder.gep(place, [k]))
        return inside

    def is_usual(k: ir.Value, e: ir.Value) -> ir.Value:
        there = builder.and_(builder.icmp_signed("<", k, n), words.has(e))
        return emitter.choose(there, lambda: draw(k, e), lambda: ir.Constant(I1, 0))

    def step(k: ir.Value) -> list[ir.Value]:
        words.provide(builder.sub(n, k))
        k, e = emitter.repeat(
            [k, words.place.value], is_usual, lambda k, e: [builder.add(k, one), builder.add(e, words.step)]
        )
        words.place.value = e
        words.leave(e)
        is_one = builder.and_(
            builder.icmp_signed("<", k, n), builder.icmp_unsigned("<", e, words.limit.value)
        )  # a corner of a layer, or half a word in front of new ones
        with builder.if_then(is_one):
            builder.store(draw_one(chosen.function), builder.gep(place, [k]))
            words.follow(e)
        return [builder.add(k, builder.zext(is_one, I64))]

    emitter.repeat([ir.Constant(I64, 0)], lambda k: builder.icmp_signed("<", k, n), step)


def copied(source: State, target: State, words: int) -> None:
    for number in range(words):
        target.store(number, source.load(number))


def own_state(element: Element, kind: str) -> State:
    """Return memory for the words of a state that no other code sees, so that they are in registers."""
    builder = element.builder
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(I64, WORDS[kind]))
        room.align = 16
    return State(builder, builder.bitcast(room, POINTER))


def fill_single(element: Element, kind: str, place: ir.Value) -> None:
    """Store uniform numbers of float32, of 24 bits: two of a word, whose upper half may be left over."""
    builder, code, words, n = element.builder, element.code, WORDS[kind], element["n"]
    own, shared = own_state(element, kind), State(builder, element.results[1])
    left, above = words - 1, ir.Constant(I64, -(2**32))

    def put(half: ir.Value, k: Index) -> None:
        bits = own.shifted(builder.trunc(half, I32), 8)
        number = builder.uitofp(bits, F32)
        builder.store(builder.fmul(number, ir.Constant(F32, 2.0**-24)), builder.gep(place, [k.register]))

    copied(shared, own, words)
    kept = own.load(left)
    has_kept = builder.and_(builder.trunc(kept, I1), n.compare(">", 0))
    start = code.index(builder.zext(has_kept, I64))
    with builder.if_then(has_kept):
        put(own.shifted(kept, 32), code.index(0))
        own.store(left, builder.and_(kept, above))
    missing = (n - start).register

    def pair(j: Index) -> None:
        word, k = STEPS[kind](own), start + j + j
        put(word, k)
        put(own.shifted(word, 32), k + 1)
        own.store(left, builder.and_(word, above))

    code.loop(0, code.index(own.shifted(missing, 1)), pair)
    with builder.if_then(builder.trunc(missing, I1)):
        word = STEPS[kind](own)
        put(word, n - 1)
        own.store(left, builder.or_(builder.and_(word, above), ir.Constant(I64, 1)))
    copied(own, shared, words)


UsualDraw = Callable[[State, Index, ir.Value], ir.Value]
"""A function that stores a number at an address, by steps of the state, and returns whether it is valid."""


def in_registers(
    element: Element,
    kind: str,
    target: tuple[ir.Value, ir.Type],
    usual: UsualDraw,
    draw_one: Callable[[Index], ir.Value],
) -> None:
    """Store numbers of a type at an address, one after the other, with the state in registers. Where a draw is not
    usual, C draws the number, from the state before."""
    builder, words, memory, (place, type_) = element.builder, WORDS[kind], element.results[1], target
    with builder.goto_entry_block():
        slot = builder.alloca(type_)
    own, shared = own_state(element, kind), State(builder, memory)

    def step(k: Index) -> None:
        before = {number: own.load(number) for number in UNDONE[kind]}
        is_usual = usual(own, k, slot)
        with builder.if_then(builder.not_(is_usual), likely=False):
            copied(own, shared, words)
            for word, value in before.items():
                shared.store(word, value)
            builder.store(draw_one(k), slot)
            copied(shared, own, words)
        builder.store(builder.load(slot), builder.gep(place, [k.register]))

    copied(shared, own, words)
    element.code.loop(0, element["n"], step)
    copied(own, shared, words)
