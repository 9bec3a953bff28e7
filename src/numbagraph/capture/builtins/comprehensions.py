"""Comprehensions and generators: the lists that they make, and folds such as `sum` and `any` over their elements."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.builtins.comparison import ordered
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.replacements import as_array
from numbagraph.capture.statements.control_flow import asked, for_, if_, if_expression, not_, or_
from numbagraph.capture.statements.extended_state import Extended
from numbagraph.capture.statements.loops import Step, captured
from numbagraph.capture.syntax.generator_functions import Yielding, has_ended
from numbagraph.capture.syntax.source import CaptureError, site
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import Generated, as_iterable, traced_iterable
from numbagraph.capture.values.list_of_lists import Row, begun
from numbagraph.capture.values.loop_state import is_number, value_of
from numbagraph.capture.values.optional import Possibly, is_none, placeholder, present, required, settled
from numbagraph.capture.values.stacked_list import Selected, Stacked
from numbagraph.capture.values.traced_keys import note_keyed
from numbagraph.capture.values.widened_lists import place_of
from numbagraph.capture.values.written_arrays import in_region as traced_region
from numbagraph.capture.values.written_arrays import root_of, share, without_effects
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import ArrayType, Input, Value
from numbagraph.tracing.regions import dependents
from numbagraph.tracing.retrace import Unstackable
from numbagraph.tracing.stale_arrays import Stale
from numbagraph.tracing.trace import active, current_trace, tried
from numbagraph.tracing.tracer import Tracer, user_source
from numbagraph.tracing.unrolled_loops import MOST_STEPS

State = Sequence[Any]
Function = Callable[..., Any]


def generated(iterable: Any, element: Function, test: Function | None, is_nested: bool) -> Any:
    """Make the generator of ``element(each)`` for each element of an iterable for which ``test(each)`` holds. Where
    ``is_nested``, these are generators again, whose elements come one after the other."""
    iterable = required(iterable)
    if isinstance(iterable, Row):
        iterable = iterable.steps()
    if isinstance(iterable, Yielding):
        return of_yielding(iterable, element, test, is_nested)
    if isinstance(iterable, Generated):
        iterable.take()
        return of_generated(iterable, element, test, is_nested)
    return Generated(iterable, element, test, is_nested)


def of_generated(source: Generated, element: Function, test: Function | None, is_nested: bool) -> Generated:
    """Make the generator of ``element(each)`` for the elements of another generator, which are computed once for
    ``test`` and ``element``."""
    if source.is_nested:
        inner = lambda each: of_generated(source.element(each), element, test, is_nested)  # noqa: E731
    elif test is None:
        return Generated(source.iterable, lambda each: element(source.element(each)), source.test, is_nested)
    else:
        inner = lambda each: Generated([source.element(each)], element, test, is_nested)  # noqa: E731
    return Generated(source.iterable, inner, source.test, True)


def of_yielding(source: Yielding, element: Function, test: Function | None, is_nested: bool) -> Yielding:
    """Make the generator of ``element(each)`` for the elements that a generator function yields."""
    source.take()

    def run(visit: Function, state: Any) -> Any:
        def made(each: Any, own: State) -> Any:
            if not is_nested:
                return visit(element(each), tuple(own))
            names = tuple(f"{len(own)} values" for _ in own)
            step = lambda part, *given: (has_ended(found := visit(part, given)), found)  # noqa: E731
            return tuple(for_(element(each), names, step, True, list(own)))

        def chosen(each: Any, own: State) -> Any:
            if test is None:
                return made(each, own)
            yes, no = (lambda given: [made(each, given)]), (lambda given: [given])
            return if_(test(each), ("the state of a loop",), yes, no, [own])[0]

        return source.run(chosen, state)

    return Yielding(run)


def is_known(generator: Generated) -> bool:
    """Whether the elements of a generator come as a Python list of them."""
    if traced_iterable(generator.iterable) is not None:
        return False
    items = generator.iterable
    if has_traced_test(generator):
        return False
    if generator.is_nested and not all(is_known(generator.element(each)) for each in chosen_of(generator)):
        return False
    return not is_long(generator) or not gives_traced(generator, items[0])


def is_long(generator: Generated) -> bool:
    """Whether a generator has many elements that are computed alike."""
    items = generator.iterable
    return isinstance(items, range) and len(items) > MOST_STEPS and not generator.is_nested


def has_traced_test(generator: Generated) -> bool:
    """Whether the condition of a generator is traced. It is evaluated in a region, without effects: its writes and
    draws come later, with the elements."""
    test = generator.test
    if test is None:
        return False

    def run(_: Any) -> bool:
        return any(isinstance(asked(test(each)), Tracer) for each in generator.iterable)

    with without_effects("a generator"):
        result: bool = traced_region(run, "a generator").result
    return result


def gives_traced(generator: Generated, item: Any) -> bool:
    def run(_: Any) -> bool:
        return is_traced(generator.element(item))

    with without_effects("a generator"):
        result: bool = traced_region(run, "a generator").result
    return result


def chosen_of(generator: Generated) -> list[Any]:
    """The elements of the iterable of a generator, whose conditions are known, for which the condition holds."""
    test = generator.test
    return [each for each in generator.iterable if test is None or asked(test(each))]


def list_of(generator: Any, *, rolls: bool = True) -> Any:
    """Make the list of a generator's elements, for list comprehensions and for functions that take all elements at
    once. ``rolls``: whether many elements of known places may be those of an array."""
    generator.take()
    if isinstance(generator, Yielding):
        raise CaptureError(f"a list of what a generator yields: append in a loop over it\n  at {user_source()}")
    if traced_iterable(generator.iterable) is not None:
        return stacked(generator, traced_iterable(generator.iterable))
    if has_traced_test(generator):
        return stacked(generator, as_iterable(generator.iterable))
    if rolls and active.rolls and generator.test is None and is_long(generator):
        try:
            with tried():
                return stacked(generator, as_iterable(generator.iterable))
        except Exception:  # noqa: BLE001  whatever needs the numbers themselves
            pass
    elements = [generator.element(each) for each in chosen_of(generator)]
    if not generator.is_nested:
        return begun_known(elements)
    if any(isinstance(each, Yielding) for each in elements):
        raise unknown_length()
    parts = [list_of(each) for each in elements]
    if any(isinstance(each, Stacked) for each in parts):
        raise unknown_length()
    return made([each for part in parts for each in part])


def begun_known(elements: list[Any]) -> Any:
    """Make a list of known length. A list of empty lists may be met at a traced place, and is then begun as a list of
    lists."""
    if elements and all(type(each) is list and not each for each in elements):
        place = site()
        if (place, "rows") in active.widened:
            return begun(place, weak_constant(len(elements)))
        note_keyed(elements, place)
    return made(elements)


def gives_empty_lists(element: Function) -> bool:
    def run(_: Any) -> bool:
        found = element(Tracer(Input(weak_constant(0).type, "step")))
        return type(found) is list and not found

    with without_effects("a list"):
        result: bool = traced_region(run, "the elements of a list").result
    return result


def as_row(found: Any) -> Any:
    """An element that is a list of numbers of one kind, or of such lists, as one of a list of lists."""
    if type(found) is not list or not found:
        return found
    parts = list(map(as_row, found))
    arrays = [as_array(each) for each in parts]
    kinds = {isinstance(each, Stacked) for each in parts}
    values = [value_of(each, "an element") for each in arrays if is_number(each)]
    is_alike = len(kinds) == 1 and len(values) == len(arrays) and len({each.shape for each in values}) == 1
    if not is_alike or (kinds == {False} and any(each.ndim for each in values)):
        return found
    if kinds == {True}:
        weak, depth = {each.kept.are_pythons for each in parts}, parts[0].depth + 1
    else:
        weak, depth = {each.type.weak for each in values}, 1
    return Stacked(np.stack(arrays), depth, weak.pop()) if len(weak) == 1 else found  # type: ignore[arg-type]


def unknown_length() -> CaptureError:
    return Unstackable(
        f"a list of parts whose lengths are not the same in each step: write a loop that assigns to the elements of an "
        f"array\n  at {user_source()}"
    )


def stacked(generator: Generated, iterable: Any) -> Stacked:
    """Make a list over traced elements, as an array that a loop fills."""
    extended = Extended((), ())
    found: list[Stacked] = []

    def run(names: Sequence[str], state: State) -> State:
        made_list, variables = stacked_with(generator, iterable, extended, names, state)
        found[:] = [made_list]
        return variables

    extended.run(run)
    return found[0]


def stacked_with(
    generator: Generated, iterable: Any, extended: Extended, names: Sequence[str], state: State
) -> tuple[Stacked, State]:
    """Make a list over traced elements, and return the variables after the loop that fills it, too."""

    def element(number: Tracer) -> Any:
        found = generator.element(iterable.at(number))
        if isinstance(found, Yielding):
            raise unknown_length()
        return list_of(found) if generator.is_nested else as_row(required(found))

    whole = extended.body(lambda number: [element(number)])
    first = lambda number: whole(number, *state)[0]  # noqa: E731
    if not generator.is_nested and generator.test is None and gives_empty_lists(first):
        return begun(site(), iterable.count()), state
    found, depth, place = in_region_of(first)
    are_pythons = found.weak
    if place is None:
        place = place_of(found, are_pythons, "list")
    dtype = active.widened.get(place, found.dtype)
    array = Tracer(placeholder(ArrayType(dtype, (iterable.count(), *found.shape))))
    test = generator.test
    mask = None if test is None else Tracer(placeholder(ArrayType(BOOL, (iterable.count(),))))

    sources: list[Any] = []

    def keep(number: Tracer, variables: State) -> State:
        if mask is not None:
            mask[number] = True
        one, *after = whole(number, *variables)
        found = as_array(one)
        sources.append(found)
        array[number] = found
        return after

    def keep_if(test: Function) -> Step:
        whether = extended.body(lambda number: [test(iterable.at(number))])

        def body(number: Tracer, variables: State) -> State:
            holds, *given = whether(number, *variables)
            return if_(holds, names, lambda *each: keep(number, each), lambda *each: list(each), given)

        return Step(body)

    body = Step(keep) if test is None else keep_if(test)
    variables = captured(names, state, body, (*site(), "list"), iterable.count())
    for each in sources:
        share(array, each)
        if isinstance(each, Tracer) and root_of(each)._foreign:
            array._foreign = Stale.OWNED
    if generator.is_nested:
        if depth != 1 or mask is not None:
            raise unknown_length()
        flat: Any = np.reshape(array, (-1, *array.shape[2:]))
        made_list = Stacked(flat, are_pythons=are_pythons)
    elif mask is None:
        made_list = Stacked(array, depth + 1, are_pythons)
    else:
        made_list = Selected(array, mask, depth + 1, are_pythons)
    made_list.kept.place = place
    return made(made_list), variables


def in_region_of(element: Function) -> tuple[ArrayType, int, Any]:
    """The type of a function's result for the number of a step, the number of its dimensions that are lists, and the
    place where these are made."""

    def run(_: Any) -> tuple[ArrayType, int, Any]:
        step = Input(weak_constant(0).type, "step")
        found = element(Tracer(step))
        if isinstance(found, Selected):
            raise unknown_length()
        array = as_array(found)
        if not is_number(array):
            raise Unstackable(f"a list over traced values holds numbers or arrays of one shape\n  at {user_source()}")
        found_type = value_of(array, "an element").type
        weak = found.kept.are_pythons if isinstance(found, Stacked) else found_type.weak
        found_type = ArrayType(found_type.dtype, found_type.shape, weak=weak)
        lengths = [each for each in found_type.shape if isinstance(each, Value)]
        if not dependents([step], lengths).isdisjoint(lengths):
            raise unknown_length()
        return found_type, getattr(found, "depth", 0), found.kept.place if isinstance(found, Stacked) else None

    with without_effects("a list"):
        result: tuple[ArrayType, int, Any] = traced_region(run, "the elements of a list").result
    return result


# ---- what takes the elements one after the other ----


def ends_early(function: Function) -> bool:
    """Whether a function must not compute the elements that it leaves out: they may draw random numbers."""
    trace = current_trace()
    return function in (any, all) and trace is not None and bool(trace.drawn)


def fold(generator: Generated, state: State, visit: Function, may_end: bool = False) -> State:
    """Return the variables after all steps ``visit(element, *state)``, which give whether that is the end, and the
    state."""
    names = tuple(f"{len(state)} values" for _ in state)
    return for_(generator, names, visit, may_end, state)


def total(generator: Generated, start: Any = 0) -> Any:
    return fold(generator, [start], lambda element, found: (False, [found + required(element)]))[0]


def some(generator: Generated) -> Any:
    return fold(generator, [False], lambda element, _: (found := not_(not_(element)), [found]), may_end=True)[0]


def every(generator: Generated) -> Any:
    def visit(element: Any, _: Any) -> tuple[Any, State]:
        found = not_(not_(element))
        return not_(found), [found]

    return fold(generator, [True], visit, may_end=True)[0]


def extreme(name: str) -> Function:
    def call(generator: Generated, key: Function | None = None, **options: Any) -> Any:
        def visit(element: Any, best: Any, rank: Any) -> tuple[Any, State]:
            own = element if key is None else key(element)
            is_better = or_(is_none(best), lambda: ordered("gt" if name == "max" else "lt", own, required(rank)))
            names = ("the extreme element", "its rank")
            return False, if_(is_better, names, lambda *_: [element, own], lambda *kept: list(kept), [best, rank])

        found = fold(generator, [None, None], visit)[0]
        if "default" in options:
            return if_expression(is_none(found), lambda: options["default"], lambda: settled(found))
        if not isinstance(found, Possibly):
            return getattr(builtins, name)(() if found is None else (found,))
        return present(found, ValueError, f"{name}() iterable argument is empty")

    return call


def first(generator: Any, *default: Any) -> Any:
    """Return ``next`` of a generator, whose other elements are never seen."""
    found = fold(generator, [None], lambda element, _: (True, [element]), may_end=True)[0]
    if default:
        return if_expression(is_none(found), lambda: default[0], lambda: settled(found))
    return present(found, StopIteration, "") if isinstance(found, Possibly) else found


TAKING: dict[Any, Function] = {
    next: first,
    sum: total,
    any: some,
    all: every,
    max: extreme("max"),
    min: extreme("min"),
}
