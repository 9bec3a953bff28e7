"""Words of bit generators that make several at once, kept side by side for draws.

A draw takes the next word, which is a load. The state in memory is that before some of the draws; `leave` updates it
for all of them, bit for bit as if the words had been made one after the other.
"""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter
from numbagraph.intrinsics.emitters.matrices import StackVariable
from numbagraph.intrinsics.emitters.random.bit_generators import (
    UPPER,
    WORDS,
    State,
    following,
    philox_block,
    tempered,
    twist,
)


class Words:
    """A buffer of words, with the place of the next one and the end of those that have been made."""

    step = ir.Constant(I64, 1)
    """The number of places of a word of 64 bits."""
    size = 0
    """The number of words that the buffer has room for."""

    def __init__(self, emitter: Emitter, state: State) -> None:
        self.emitter, self.builder, self.state = emitter, emitter.builder, state
        zero = ir.Constant(I64, 0)
        self.place, self.limit = StackVariable(emitter, zero), StackVariable(emitter, zero)
        with self.builder.goto_entry_block():
            room = self.builder.alloca(ir.ArrayType(I64, self.size))
            room.align = 64
        self.kept = State(self.builder, self.builder.bitcast(room, POINTER))

    def has(self, place: ir.Value) -> ir.Value:
        """Return whether there is a whole word at a place."""
        return self.builder.icmp_unsigned("<=", self.builder.add(place, self.step), self.limit.value)

    def provide(self, wanted: ir.Value) -> None:
        """Make words if there are none, if possible as many as wanted."""
        with self.builder.if_then(self.builder.not_(self.has(self.place.value))):
            self.make(wanted)

    def least(self, one: ir.Value, other: int) -> ir.Value:
        return self.emitter.intrinsic("umin", one, ir.Constant(I64, other))

    def make(self, wanted: ir.Value) -> None:
        """Make and keep words, from the state in memory on."""
        raise NotImplementedError

    def word(self, place: ir.Value) -> ir.Value:
        raise NotImplementedError

    def leave(self, place: ir.Value) -> None:
        """Set the state in memory to that before the word at a place."""
        raise NotImplementedError

    def follow(self, before: ir.Value) -> None:
        """Continue from the state that C has left, which was that before a place."""
        raise NotImplementedError


class Twister(Words):
    """Words of `MT19937`: 32 bits at each position of the state."""

    step = ir.Constant(I64, 2)
    size = UPPER // 2
    last = WORDS["MT19937"] - 1

    def make(self, wanted: ir.Value) -> None:
        builder, state, end = self.builder, self.state, ir.Constant(I64, UPPER)
        with builder.if_then(builder.icmp_unsigned(">=", state.load(self.last), end), likely=False):
            twist(state)
            state.store(self.last, ir.Constant(I64, 0))
        first = state.load(self.last)
        stop = self.least(builder.add(first, self.state.shifted(wanted, -1)), UPPER)

        def step(k: ir.Value) -> list[ir.Value]:
            self.kept.store(k, tempered(state, k))
            return [builder.add(k, ir.Constant(I64, 1))]

        self.emitter.repeat([first], lambda k: builder.icmp_unsigned("<", k, stop), step)
        self.place.value, self.limit.value = first, stop

    def word(self, place: ir.Value) -> ir.Value:
        halves = self.builder.load(self.builder.bitcast(self.kept.place(place, I32), I64.as_pointer()), align=4)
        return self.kept.rotated(halves, ir.Constant(I64, 32))

    def leave(self, place: ir.Value) -> None:
        self.state.store(self.last, place)

    def follow(self, before: ir.Value) -> None:
        now = self.state.load(self.last)
        is_same = self.builder.icmp_unsigned(">", now, before)  # all numbers have not been made anew
        self.place.value, self.limit.value = now, self.builder.select(is_same, self.limit.value, now)


class Philox(Words):
    """Words of `Philox`: the four words of the state, and behind these four of each counter that follows."""

    blocks = 32
    size = 4 * (1 + blocks)

    def __init__(self, emitter: Emitter, state: State) -> None:
        super().__init__(emitter, state)
        self.first = StackVariable(emitter, ir.Constant(I64, 0))
        """The lowest word of the counter at the time when the words were made."""

    def make(self, wanted: ir.Value) -> None:
        builder, state = self.builder, self.state
        place = self.least(state.load(10), 4)
        counter = [state.load(number) for number in range(4)]
        for number in range(4):
            self.kept.store(number, state.load(6 + number))
        missing = builder.add(builder.add(wanted, place), ir.Constant(I64, -1))
        count = self.least(state.shifted(missing, 2), self.blocks)

        def step(number: ir.Value, *counter: ir.Value) -> list[ir.Value]:
            counter = tuple(following(builder, counter, ir.Constant(I64, 1)))
            after = builder.add(number, ir.Constant(I64, 1))
            target = state.shifted(after, -2)
            for each, word in enumerate(philox_block(state, counter)):
                self.kept.store(builder.add(target, ir.Constant(I64, each)), word)
            return [after, *counter]

        self.emitter.repeat(
            [ir.Constant(I64, 0), *counter], lambda number, *_: builder.icmp_unsigned("<", number, count), step
        )
        self.first.value, self.place.value = counter[0], place
        self.limit.value = state.shifted(builder.add(count, ir.Constant(I64, 1)), -2)

    def word(self, place: ir.Value) -> ir.Value:
        return self.kept.load(place)

    def leave(self, place: ir.Value) -> None:
        builder, state = self.builder, self.state
        taken = builder.select(
            builder.icmp_unsigned("==", place, ir.Constant(I64, 0)), place, builder.sub(place, ir.Constant(I64, 1))
        )
        block = state.shifted(taken, 2)
        counter = [state.load(number) for number in range(4)]
        steps = builder.sub(block, builder.sub(counter[0], self.first.value))
        for number, word in enumerate(following(builder, counter, steps)):
            state.store(number, word)
        start = state.shifted(block, -2)
        for number in range(4):
            state.store(6 + number, self.kept.load(builder.add(start, ir.Constant(I64, number))))
        state.store(10, builder.sub(place, start))

    def follow(self, before: ir.Value) -> None:
        builder, state = self.builder, self.state
        block = builder.sub(state.load(0), self.first.value)
        self.place.value = builder.add(state.shifted(block, -2), state.load(10))


KINDS: dict[str, type[Words]] = {"MT19937": Twister, "Philox": Philox}
