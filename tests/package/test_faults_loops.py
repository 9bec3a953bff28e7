"""The tests of loops catch faults: each of these plants one, and sees a program of theirs come out wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.api import loops as front_end
from numbagraph.emit.control_flow import ONE, LoopEmitter
from numbagraph.loops import copies
from numbagraph.ops.control import scan as scan_op
from numbagraph.tracing import regions
from numbagraph.transforms.interpret import Evaluation
from tests.api.test_loops import PROGRAMS, assert_close, floats, numeric_gradient, total
from tests.capture.test_assignments import exchanged, plain_exchanged, plain_read_after, read_after
from tests.loops import test_hoisting
from tests.tracing import test_checks


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No code of a fault stays on disk."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")


def check_value(name: str) -> None:
    program = PROGRAMS[name]
    assert_close(ng.graph_jit(program.compiled)(*program.args), program.plain(*program.args))


def check_gradient(name: str) -> None:
    program = PROGRAMS[name]
    place = floats(program)[0]
    found = ng.graph_jit(ng.grad(lambda *args: total(program.compiled(*args)), argnums=place))(*program.args)
    expected = numeric_gradient(lambda *args: total(program.plain(*args)), list(program.args), place)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def check_checks(program: Any) -> None:
    f = ng.graph_jit(lambda x: program(ng, x))
    for x in test_checks.ARGUMENTS:
        test_checks.assert_same(test_checks.outcome(f, x), test_checks.outcome(program, test_checks.Plain, x))


def check_assignments(compiled: Any, plain: Any) -> None:
    x, b = np.arange(5.0) + 1, np.arange(5.0) / 3 + 1
    assert_close(ng.graph_jit(compiled)(x, b), plain(x, b))


def test_a_loop_for_its_checks_alone_that_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    check_checks(test_checks.dead_loop)
    monkeypatch.setattr(regions.Body, "is_checked", False)
    with pytest.raises(AssertionError):
        check_checks(test_checks.dead_loop)


def test_checks_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    check_checks(test_checks.in_order)
    run = Evaluation.run
    monkeypatch.setattr(Evaluation, "run", lambda self, values: run(self, list(values)[::-1])[::-1])
    with pytest.raises(AssertionError):
        check_checks(test_checks.in_order)


def test_without_a_fault_the_checks_pass() -> None:
    for name in ("backwards", "rnn", "nested"):
        check_value(name)
        check_gradient(name)
    check_assignments(read_after, plain_read_after)
    check_assignments(exchanged, plain_exchanged)


def test_carries_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    results = scan_op.Loop.result

    def exchanged_result(self: Any, number: int) -> Any:
        return results(self, {1: 2, 2: 1}.get(number, number) if self.carries == 3 else number)

    monkeypatch.setattr(scan_op.Loop, "result", exchanged_result)
    with pytest.raises(AssertionError):
        check_value("backwards")


def test_a_slice_off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    index = LoopEmitter.index

    def shifted(self: Any, step: Any) -> Any:
        last = self.builder.sub(self.trips, ONE)
        following = self.builder.add(index(self, step), ONE)
        return self.builder.select(self.builder.icmp_signed(">", following, last), last, following)

    monkeypatch.setattr(LoopEmitter, "index", shifted)
    with pytest.raises(AssertionError):
        check_value("rnn")


@pytest.mark.parametrize(("compiled", "plain"), [(read_after, plain_read_after), (exchanged, plain_exchanged)])
def test_a_read_after_an_update_in_place(monkeypatch: pytest.MonkeyPatch, compiled: Any, plain: Any) -> None:
    def merged(here: int, source: Any, target: Any, uses: Any, steps: Any) -> bool:
        return True

    monkeypatch.setattr(copies, "may_be_one", merged)
    if compiled is exchanged:  # there no memory may be shared, whoever asks
        original = copies.copied
        monkeypatch.setattr(copies, "copied", lambda step: with_result_of_leaf(original(step)))
    with pytest.raises(AssertionError):
        check_assignments(compiled, plain)


def with_result_of_leaf(pair: Any) -> Any:
    """As if every copied argument were that of the result it is copied to."""
    if pair is not None and pair[0].leaf is not None:
        pair[0].leaf = pair[1].owner.result if pair[1].owner.result is not None else pair[0].leaf
    return pair


def test_what_is_stored_shifted_by_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def after(self: Any, carry: int) -> Any:
        """Not before each step but in the first."""
        before = self.result(self.outputs + carry)
        return before[[0] * 6] if before.ndim else before

    monkeypatch.setattr(scan_op.Loop, "before", after)
    with pytest.raises(AssertionError):
        check_gradient("rnn")


def test_a_hoisted_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "may_fail", lambda node: False)
    monkeypatch.setattr(regions, "is_guarded", lambda *given: False)

    def run(x: Any, n: Any) -> Any:
        return ng.fori_loop(0, n, lambda i, t: t + x[np.array([7])][0], 0.0)

    with pytest.raises(IndexError):  # without the fault, a loop without steps raises nothing
        ng.graph_jit(run)(np.arange(3.0), 0)
    monkeypatch.undo()
    assert ng.graph_jit(run, cache=False)(np.arange(3.0), 0) == 0.0


def test_an_assignment_that_only_steps_require_is_hoisted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "is_guarded", lambda *given: False)
    with pytest.raises(AssertionError):
        test_hoisting.test_nothing_outside_of_an_array_is_computed_before_a_loop(test_hoisting.last_element)


def test_a_pullback_that_forgets_a_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_op, "moving_carries", lambda body, initial, asked: [n for n in asked if n < len(initial)])
    with pytest.raises(AssertionError):
        check_gradient("ar1")


def test_a_carry_that_keeps_its_first_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_end.Carry, "settle", lambda self, after, what: True)
    x = np.arange(3.0) + 0.5
    with pytest.raises((AssertionError, TypeError)):
        assert_close(ng.graph_jit(lambda x: ng.scan(lambda c, e: (c + e, None), 0, x)[0])(x), np.sum(x))
