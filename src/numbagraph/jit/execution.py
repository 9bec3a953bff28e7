"""Calls that native code hands on: a version is found or made and runs; with more room for lists, or known lengths,
where it does not fit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from numbagraph.ir.shapes import ShapeError
from numbagraph.jit.binding import Arguments, Key, is_flat_call
from numbagraph.jit.definition import Definition
from numbagraph.jit.dispatch import Dispatcher
from numbagraph.jit.mutated_arguments import WriteBack, only_written
from numbagraph.jit.out import Targets
from numbagraph.jit.version import Traced
from numbagraph.jit.versions import Versions
from numbagraph.rewrite.debug_checks import check_level, check_values
from numbagraph.runtime import failures, replay
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import compiler
from numbagraph.tracing.python_arithmetic import NOT_AN_INTEGER
from numbagraph.tracing.retrace import ListFull
from numbagraph.tracing.static_lengths import Known, integers_of, lengths_of
from numbagraph.tracing.trace import as_traced, current_trace
from numbagraph.tracing.tracer import any_traced
from numbagraph.transforms.interpret import after_failure

MORE_ROOM, MOST_ROOM = 16, 16**6
"""By how much lists get more room where they have too little, and the most that they get."""


class Execution:
    """Runs the versions of one compiled function."""

    def __init__(self, definition: Definition, versions: Versions, dispatcher: Dispatcher) -> None:
        self.definition, self.versions, self.dispatcher = definition, versions, dispatcher
        self._by_numbers: set[Hashable] = set()
        """The lengths and integers that have versions made for them alone, since others do not fit."""

    def clear(self) -> None:
        self._by_numbers = set()

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        """Handle a call with trees, keywords, defaults or static arguments, whose dispatch key may be known."""
        try:
            arguments = self.definition.bind(args, kwargs)
        except TypeError:
            if not self._is_redefined():
                raise
            arguments = self.definition.bind(args, kwargs)
        generators = arguments.generators
        if generators is None:
            return self._call_bound(arguments, out, args, kwargs)
        generators.require_no_trace()
        with generators.drawing():
            return self._call_bound(arguments, out, args, kwargs)

    def _is_redefined(self) -> bool:
        found = self.definition.is_redefined()
        if found:
            self.dispatcher.publish_signature()
        return found

    def _call_bound(self, arguments: Arguments, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        definition = self.definition
        if out is not None:
            return self._call_into(arguments, Targets(out, definition.described))
        if current_trace() is not None and self.versions.have_state():  # so the function that is traced has it, too
            return as_traced(definition.function)(*args, **kwargs)
        for run, rebuild in () if failures.is_stopped() else arguments.find(self.dispatcher.versions):
            result = run(*arguments.leaves)
            if result is not NotImplemented:
                return result if rebuild is None else rebuild(result)
        if self._is_redefined():
            arguments = definition.bind(args, kwargs)
        if not any_traced(arguments.leaves):
            return self._call_slowly(arguments)
        with only_written(arguments.leaves, definition.writable(arguments), definition.described):
            return as_traced(definition.function)(*args, **kwargs)

    def _call_slowly(self, arguments: Arguments) -> Any:
        """Handle a call with a new dispatch key, with arguments that must be converted first, or with an error."""
        if self._by_numbers and numbers_of(arguments) in self._by_numbers:
            return self._call_with_numbers(arguments)
        convert = self.definition.convert
        traced, leaves = self.versions.find(arguments)
        try:
            return self._run(arguments, traced, leaves)
        except ListFull:
            if traced.outputs.has_effects or convert.room >= MOST_ROOM:
                raise
            convert.room *= MORE_ROOM
            self.versions.forget(arguments.key)
            return self._call_slowly(arguments)
        except OverflowError as error:  # Python's integers have no end, and those of a range may be known
            if traced.outputs.has_effects or not convert.rolled:
                raise
            convert.unroll()
            self.versions.forget(arguments.key)
            try:
                return self._call_slowly(arguments)
            except Exception:  # noqa: BLE001  the first one speaks of the loop
                raise error from None
        except ShapeError as error:
            if traced.outputs.has_effects:
                raise
            if traced.may_skip_statements:
                try:
                    return self._run(arguments, self.versions.with_compared_lengths(arguments, traced), leaves)
                except ShapeError:
                    pass
            return self._retry_with_numbers(error, arguments)
        except compiler.LengthNotKnown as error:  # of an array on one of the paths, of which numbers say which is taken
            return self._retry_with_numbers(error, arguments)
        except ValueError as error:
            if traced.outputs.has_effects or NOT_AN_INTEGER not in str(error):
                raise
            return self._retry_with_numbers(error, arguments, is_needed=True)

    def _retry_with_numbers(self, error: Exception, arguments: Arguments, *, is_needed: bool = False) -> Any:
        """Retry a call with known lengths and integers after ``error``; raise ``error`` if that fails too, or if the
        function is not converted, so that numbers decide on no paths (unless retrying ``is_needed`` all the same)."""
        if not (is_needed or self.definition.convert.needed):
            raise error
        try:
            return self._call_with_numbers(arguments)
        except Exception:  # noqa: BLE001  the first one speaks of the function as it is
            raise error from None

    def _call_with_numbers(self, arguments: Arguments) -> Any:
        """Call a version for these lengths and integers of Python's, which may decide the paths that are taken. If it
        fits, later calls with them begin with it."""
        numbers = numbers_of(arguments)
        arguments.know(Known.NUMBERS)
        traced, leaves = self.versions.find(arguments)
        result = self._run(arguments, traced, leaves)
        self._by_numbers.add(numbers)
        return result

    def _run(self, arguments: Arguments, traced: Traced, leaves: list[Any]) -> Any:
        """Run a version, and build the object that the function returns."""
        if traced.outputs.written or traced.shared.variables:
            return self._run_writing(arguments, traced, leaves)
        run, rebuild = self.versions.ready(traced, arguments.key)
        if check_level() > 1:
            assert traced.specialisation is not None
            check_values(traced.specialisation.stages, traced.inputs(leaves))
        result = replay.run_once(run, traced.specialisation, arguments.leaves, leaves)
        if result is NotImplemented:
            return traced.outputs.rebuild(self.run_by_numpy(traced, traced.inputs(leaves)))
        return result if rebuild is None else rebuild(result)

    def _run_writing(self, arguments: Arguments, traced: Traced, leaves: list[Any]) -> Any:
        """Run a version that writes into arguments, all of them or none, or uses shared variables."""
        back = self._write_back(arguments, traced)
        if back.meets_others:  # native code compares bounds alone
            arguments.leaves = back.copies()
            traced, leaves = self.versions.find(arguments)
        results = back.finish(self._results(traced, arguments.key, leaves))
        traced.shared.update(results)
        return traced.outputs.rebuild(results)

    def _write_back(self, arguments: Arguments, traced: Traced) -> WriteBack:
        return WriteBack(arguments.leaves, arguments.leaf_names, traced.outputs.written, self.definition.described)

    def _results(self, traced: Traced, key: Key, leaves: list[Any]) -> Sequence[Any]:
        """Run a version, and return the results of its graph."""
        self.versions.ready(traced, key)
        assert traced.native is not None
        shared = traced.shared.values()
        given = [*leaves, *shared]
        result = replay.run_once(traced.native, traced.specialisation, given, given)
        if result is NotImplemented:
            return self.run_by_numpy(traced, traced.inputs(leaves, shared))
        return [result] if traced.outputs.single and self.definition.backend == "numba" else result

    def _call_into(self, arguments: Arguments, targets: Targets) -> Any:
        """Handle a call whose results go to arrays of the caller."""
        writers = self.dispatcher.writers
        if not failures.is_stopped() and writers.write(arguments, targets):
            return targets.tree
        targets.refuse_traced(arguments.leaves)
        traced, leaves = self.versions.find(arguments)
        targets.check(traced.outputs)
        back = self._write_back(arguments, traced) if traced.outputs.written else None
        if back is not None:
            back.require_apart(targets.leaves, targets.name)
            arguments.leaves = back.copies()
            traced, leaves = self.versions.find(arguments)
        elif self.definition.backend == "numba" and check_level() <= 1 and traced.is_kept and traced.is_one:
            arguments.leaves, writers = leaves, self.dispatcher.writers
            is_flat = is_flat_call(self.definition.signature, *arguments.key)
            writers.extend(traced, arguments, targets, is_flat=is_flat)
            if not failures.is_stopped() and writers.write(arguments, targets):
                return targets.tree
        results = self._results(traced, arguments.key, leaves)
        targets.fill([results[slot] for slot in traced.outputs.slots if slot is not None])
        if back is not None:
            back.finish(results)
        traced.shared.update(results)
        return targets.tree

    def run_by_numpy(self, traced: Traced, inputs: list[Any]) -> list[Any]:
        """Run a graph op by op where native code has failed: NumPy raises the error, or native code does not take the
        arguments."""
        raise_kept()

        def fails(arrays: Sequence[Any]) -> bool:
            native, given = traced.native, arrays[: len(arrays) - len(traced.captured)]
            if native is None or traced.outputs.has_effects or native(*given) is not NotImplemented:
                return False
            failures.take()
            return True

        return after_failure(traced.graph, inputs, self.definition.described, fails)


def numbers_of(arguments: Arguments) -> Hashable:
    """The lengths and integers of a call."""
    return lengths_of(arguments.leaves), integers_of(arguments.leaves)
