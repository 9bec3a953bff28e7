"""Random functions of Python statements: operators, ops of the registry, views, assignments into parts, aliases."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import COMPLEX128, FLOAT32, FLOAT64, INT64
from numbagraph.testing.arrays import aligned
from numbagraph.testing.op_calls import Call, is_supported, samples
from tests.fuzz.arguments import arrays_of, leaves, mapped
from tests.fuzz.indices import index_of
from tests.fuzz.near import perturbed
from tests.support.references import IN_SINGLE, in_double

OTHERS = tuple(map(np.dtype, ("uint8", "bool", "int8", "uint64", "complex64")))
DTYPES = (FLOAT64,) * 5 + (FLOAT32, INT64, COMPLEX128, *OTHERS)
SHAPES = ((3, 4), (4,), (3, 4), (4,), (3, 1), (1, 4), (1,), (0,), (0, 4), (3, 0), (2, 3, 4))
LARGEST = 4000

UNSPECIFIED = ("copysign", "signbit", "nextafter", "spacing", "to_bits")
"""What they make of rounding errors, and of the sign of a NaN, is not specified."""
OF_SORTED = {"digitize": 1, "histogram": 1, "interp": 1, "searchsorted": 0}
"""Which operand must be sorted: what they make of others is not specified."""
SPHEROIDAL = tuple(
    f"{kind}_{name}{given}" for kind in ("pro", "obl") for name in ("ang1", "rad1", "rad2") for given in ("", "_cv")
)
UNCHECKED = ("lstsq", "lu_solve", "pro_cv", "obl_cv", "smirnovi", *SPHEROIDAL)
"""NumPy's may not return where a matrix has NaN; SciPy's writes wherever pivots say that are no rows, and past the end
of its memory for spheroidal functions of large orders. The time of SciPy's inverse of ``smirnov`` grows with the square
of a sample's length: of 10**5 it takes 14 s."""

UNORDERED = ("eig", "eigvals")
"""Whose results LAPACK has in the order in which it finds them: rounding decides, and NumPy computes in float64."""
IN_STEPS = ("expm",)
"""Whose reference has errors beyond rounding: SciPy takes few terms where norms that it estimates say that they are
enough, which costs some matrices three digits. The fifth power of the exponential of a fifth has other errors, since
that is scaled by other powers of two, so runs with errors show them."""

OPERATORS = "+ - * / // % ** < <= == != & |".split()
COMPARISONS = "< <= == != >=".split()
IN_PLACE = "+= -= *=".split()
METHODS = ".T .copy() .reshape(-1) .ravel() .real .sum() .sum(axis=0) .mean() .max() .astype(float)".split()
INTO = ("np.add", "np.multiply", "np.maximum", "np.subtract")
NUMBERS = ("1", "2", "-3", "0.5", "-1.5", "True", "2j", "np.float32(2)", "np.int64(3)", "np.uint8(200)", "np.True_")
SCALARS = (2, -1.5, True, 0, 1j, np.float32(0.5), np.int64(3), np.uint8(200), np.True_)


def names() -> list[str]:
    """The ops that programs are made of: those that NumPy or SciPy has a function for."""
    return sorted(
        op.name for op in registry if numpy_function(op) is not None and op.name not in UNSPECIFIED + UNCHECKED
    )


@dataclass
class Program:
    """A function's source, what it names, and arguments for it."""

    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    """The ops that are called, each with its static arguments, by the names that lines have for them."""
    arguments: list[Any] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    returns_all: bool = False
    """Whether nothing is computed in vain: errors in what is not used need not be raised."""
    ops: list[str] = field(default_factory=list)

    @property
    def uses_all(self) -> bool:
        """Whether nothing of what is computed is overwritten."""
        return self.returns_all and not any("] =" in line or "out=" in line for line in self.lines)

    @property
    def source(self) -> str:
        parameters = ", ".join(f"a{number}" for number in range(len(self.arguments)))
        body = "\n".join([*self.lines, f"return ({', '.join(self.returned)},)"])
        return f"def program({parameters}):\n{textwrap.indent(body, '    ')}\n"

    def function(self, rounding: np.random.Generator | None = None) -> Any:
        """The function; with ``rounding``, each result that is rounded has another error."""
        same = lambda value: value  # noqa: E731
        noisy = same if rounding is None else lambda value: perturbed(value, rounding)
        space = {"np": np, "rounded": noisy, **self.names}
        if rounding is not None:
            space |= {name: use.with_errors(noisy) for name, use in self.names.items()}
        exec(compile(self.source, "<program>", "exec"), space)
        return space["program"]

    def __str__(self) -> str:
        ops = "\n".join(f"# {name}: {each}" for name, each in self.names.items())
        with np.printoptions(threshold=50):
            given = "\n".join(f"a{number} = {each!r}" for number, each in enumerate(self.arguments))
        return f"{given}\n{ops}\n{self.source}"


class Use:
    """A call of an op with the static arguments of a sample."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.determined = call.op.determined

    def __call__(self, *arrays: Any) -> Any:
        function = partial(in_double, self.call.function) if self.call.op.name in IN_SINGLE else self.call.function
        result = self.determined(function(*[aligned(each) for each in arrays]))
        return in_order(result) if self.call.op.name in UNORDERED else result

    def with_errors(self, noisy: Callable[[Any], Any]) -> Callable[..., Any]:
        """The same with errors of its operands, where a matrix can make much of them."""
        if self.call.op.name in IN_STEPS:
            return lambda *arrays: np.linalg.matrix_power(self(*[noisy(each) / 5 for each in arrays]), 5)
        if self.call.op.name in OF_SORTED:
            name = self.call.op.name
            return lambda *arrays: self(*arrays) if is_specified(name, arrays) else other(self(*arrays))
        homes = [f"{each} {getattr(each, '__module__', '')}" for each in self.call.op.implements]
        return (lambda *arrays: self(*map(noisy, arrays))) if any("linalg" in each for each in homes) else self

    def __repr__(self) -> str:
        return str(self.call)


def is_specified(name: str, arrays: Sequence[np.ndarray]) -> bool:
    """Whether the operand that must be sorted is, if it is one of these arrays and not given otherwise."""
    place = OF_SORTED.get(name)
    return place is None or place >= len(arrays) or is_sorted(arrays[place])


def is_sorted(array: np.ndarray) -> bool:
    return bool(np.all(array[:-1] <= array[1:]))


def other(result: Any) -> Any:
    """Numbers that differ from all of a result: of no element of it anything is said then."""
    if isinstance(result, (tuple, list)):
        return type(result)(map(other, result))
    result = np.asarray(result)
    if result.dtype.kind not in "fc":
        return result + 1
    return np.where(np.isfinite(result), np.nan, 0).astype(result.dtype)


def in_order(result: Any) -> Any:
    """Eigenvalues, and what belongs to them along the last axis, in an order that is the same for any order of theirs:
    by how far they are along a line that tells pairs of conjugates apart."""
    values = result[0] if isinstance(result, tuple) else result
    order = np.argsort(values.real * 0.8 + values.imag * 0.6, -1)
    if not isinstance(result, tuple):
        return np.take_along_axis(values, order, -1)
    vectors = np.take_along_axis(result[1], order[..., None, None, :], -1)
    return np.take_along_axis(values, order, -1), vectors


class Draw:
    """Draws statements, and runs each on NumPy at once: what NumPy refuses is not taken."""

    def __init__(self, rng: np.random.Generator, names: list[str]) -> None:
        self.rng = rng
        self.ops = names
        self.program = Program()
        self.values: dict[str, Any] = {}
        self.count = 0

    def choose(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def new_argument(self, value: Any) -> str:
        name = f"a{len(self.program.arguments)}"
        self.program.arguments.append(value)
        self.values[name] = mapped(np.copy, value)
        return name

    def new_name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def run(self, line: str, **given: Any) -> bool:
        """Take a line, unless NumPy refuses it or gives what is not supported."""
        before = set(self.values)
        space = {"np": np, "rounded": lambda value: value, **self.program.names, **given}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(line, space, self.values)
        except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError, np.linalg.LinAlgError):
            return False
        new = {name: value for name, value in self.values.items() if name not in before}
        if not all(map(_is_small, new.values())):
            for name in new:
                del self.values[name]
            return False
        self.program.lines.append(line)
        self.program.names |= given
        return True

    def arrays(self, *, own: bool = False) -> list[str]:
        """Names of arrays; with ``own``, of those that share nothing with an argument."""
        found = [name for name, value in self.values.items() if isinstance(value, np.ndarray) and value.ndim]
        given = [each for name, value in self.values.items() if name.startswith("a") for each in arrays_of(value)]
        return [name for name in found if not own or self.is_own(self.values[name], given)]

    def is_own(self, value: np.ndarray, given: list[np.ndarray]) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some arrays are about to become read-only
            writeable = value.flags.writeable
        may_be_given = not value.size and any(not each.size for each in given)  # these share no memory with themselves
        may_be_given |= any(owner(value) is owner(each) for each in given)  # nor do parts without elements
        return writeable and not may_be_given and not any(np.may_share_memory(value, each) for each in given)

    def operand(self, wanted: np.ndarray) -> str:
        """A value of a shape and dtype, or a new argument that is one."""
        fitting = [
            name
            for name, value in self.values.items()
            if isinstance(value, np.ndarray) and value.shape == wanted.shape and value.dtype == wanted.dtype
        ]
        if not fitting or self.chance(0.3):
            return self.new_argument(wanted)
        name = self.choose(fitting)
        if wanted.dtype.kind == "f" and wanted.size and self.chance(0.7):
            low, high = float(wanted.min()), float(wanted.max())
            clipped = self.new_name()
            if np.isfinite([low, high]).all() and self.run(f"{clipped} = np.clip({name}, {low!r}, {high!r})"):
                return clipped
        return name

    def statement(self) -> None:
        kinds = (self.op_call,) * 6 + (self.operation, self.operation, self.method, self.part, self.part, self.alias)
        changes = (self.assignment, self.assignment, self.in_place, self.loop, self.into)
        self.choose((*kinds, *changes, self.choice, self.tree))()

    def op_call(self) -> None:
        op = registry[self.choose(self.ops)]
        calls = list(samples(op, self.choose(DTYPES), seed=int(self.rng.integers(2**31))))
        if not calls:
            return
        call = self.choose(calls)
        if not is_supported(call.expected(call.arrays)):
            return
        names = [self.operand(each) for each in call.arrays]
        result, use = self.new_name(), f"op{len(self.program.names)}"
        if self.run(f"{result} = rounded({use}({', '.join(names)}))", **{use: Use(call)}):
            self.program.ops.append(op.name)
            self.unwrap(result)

    def unwrap(self, name: str) -> None:
        """Results in parts get names of their own; a view is not rounded, which would make a copy of it."""
        value = self.values[name]
        line = self.program.lines[-1]
        others = [each for other, each in self.values.items() if other != name]
        is_tuple = isinstance(value, (tuple, list))
        if is_tuple or _shares_memory(value, others):
            self.program.lines[-1] = line.replace("rounded(", "(", 1)
        if not is_tuple:
            return
        del self.values[name]
        for number, part in enumerate(value):
            alike = _shares_memory(part, [*value[:number], *value[number + 1 :]])  # NumPy gives one array twice
            text = f"{name}[{number}]" + (".copy()" if alike else "")
            is_view = not alike and _shares_memory(part, others)
            self.values[f"{name}_{number}"] = np.array(part) if alike else part
            self.program.lines.append(f"{name}_{number} = " + (text if is_view else f"rounded({text})"))

    def operands(self) -> list[str]:
        return [name for name, value in self.values.items() if not isinstance(value, (dict, list, tuple))]

    def operation(self) -> None:
        if arrays := self.operands():
            right = self.choose(NUMBERS) if self.chance(0.4) else self.choose(arrays)
            sides = [self.choose(arrays), right]
            self.rng.shuffle(sides)
            self.run(f"{self.new_name()} = rounded({sides[0]} {self.choose(OPERATORS)} {sides[1]})")

    def method(self) -> None:
        if arrays := self.arrays():
            text = f"{self.choose(arrays)}{self.choose(METHODS)}"
            rounds = ".sum(" in text or ".mean(" in text
            self.run(f"{self.new_name()} = {f'rounded({text})' if rounds else text}")

    def index(self, name: str, *, write: bool) -> str:
        positions = [other for other in self.arrays() if self.values[other].dtype == INT64]
        if self.chance(0.2):
            positions = [self.new_argument(self.rng.integers(-3, 3, int(self.rng.integers(4))))]
        return index_of(self.values[name].shape, self.rng, positions, write=write)

    def part(self) -> None:
        if arrays := self.arrays():
            name = self.choose(arrays)
            self.run(f"{self.new_name()} = {name}[{self.index(name, write=False)}]")

    def choice(self) -> None:
        """An element of one of two arrays, also where they are equal."""
        if arrays := self.arrays():
            left, right = self.choose(arrays), self.choose(arrays)
            test = f"{left} {self.choose(COMPARISONS)} {right}"
            self.run(f"{self.new_name()} = np.where({test}, {right}, {left})")

    def into(self) -> None:
        """A function whose result is written into an array."""
        if arrays := self.arrays(own=True):
            values = self.operands()
            operands = f"{self.choose(values)}, {self.choose(values)}"
            self.run(f"{self.choose(INTO)}({operands}, out={self.choose(arrays)})")

    def tree(self) -> None:
        """An argument that is a tree, the values of a dict in their order, or a tree that is returned."""
        trees = [name for name, value in self.values.items() if isinstance(value, dict) and name.startswith("a")]
        made = self.arrays()
        if trees and self.chance(0.6):
            self.run(f"{self.new_name()} = list({self.choose(trees)}.values())[{self.choose((0, 1))}]")
        elif not made or self.chance(0.6):
            self.new_argument({"b": self.rng.uniform(-3, 3, 4), "a": self.rng.uniform(-3, 3, 4)})
        else:
            one, two = self.choose(made), self.choose(made)
            self.run(f"{self.new_name()} = {{'b': [{one}], 'a': ({two}, {{'c': {one}}})}}")

    def alias(self) -> None:
        if arrays := self.arrays():
            self.run(f"{self.new_name()} = {self.choose(arrays)}")

    def assignment(self) -> None:
        if arrays := self.arrays(own=True):
            value = self.choose(NUMBERS) if self.chance(0.3) else self.choose(self.operands())
            sign = self.choose(("=", *IN_PLACE))
            name = self.choose(arrays)
            self.run(f"{name}[{self.index(name, write=True)}] {sign} {value}")

    def in_place(self) -> None:
        if arrays := self.arrays(own=True):
            value = self.choose(NUMBERS) if self.chance(0.3) else self.choose(self.operands())
            self.run(f"{self.choose(arrays)} {self.choose(IN_PLACE)} {value}")

    def loop(self) -> None:
        if arrays := self.arrays(own=True):
            name = self.choose(arrays)
            self.run(f"for i in range(2): {name}[i] {self.choose(IN_PLACE)} i + 2")
            self.values.pop("i", None)


def _is_small(value: Any) -> bool:
    """Whether results are supported, of few elements and dimensions."""
    if isinstance(value, (tuple, list, dict)):
        return all(map(_is_small, leaves(value)))
    return is_supported(value) and np.size(value) <= LARGEST and np.ndim(value) <= 4


def _shares_memory(value: Any, others: list[Any]) -> bool:
    return isinstance(value, np.ndarray) and any(np.may_share_memory(value, each) for each in arrays_of(others))


def owner(array: np.ndarray) -> Any:
    """What the memory of an array belongs to."""
    while array.base is not None:
        array = array.base
    return array


def draw(rng: np.random.Generator, names: list[str]) -> Program:
    """A program of a few statements that returns some of its values."""
    found = Draw(rng, names)
    for _ in range(2):
        found.new_argument(rng.uniform(-3, 3, found.choose(SHAPES)).astype(found.choose(DTYPES)))
    if rng.random() < 0.4:
        found.new_argument(found.choose(SCALARS))
    for _ in range(int(rng.integers(1, 12))):
        found.statement()
    made = [name for name in found.values if name.startswith("v")]
    if made:
        found.program.returns_all = found.chance(0.5)
        some = [name for name in made if found.program.returns_all or found.chance(0.3)]
        found.program.returned = list(dict.fromkeys([*some, *made[-2:]]))
    return found.program
