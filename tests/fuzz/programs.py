"""Random functions of Python statements: operators, ops of the registry, views, assignments into parts, aliases."""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numbagraph.op import numpy_function, registry
from numbagraph.testing.arrays import aligned
from numbagraph.testing.calls import Call, is_supported, samples
from numbagraph.types import COMPLEX128, FLOAT32, FLOAT64, INT64
from tests.fuzz.near import perturbed

DTYPES = (FLOAT64, FLOAT64, FLOAT64, FLOAT32, INT64, COMPLEX128, np.dtype(np.uint8), np.dtype(np.bool_))
LARGEST = 4000

UNSPECIFIED = ("copysign", "signbit", "nextafter", "spacing")
"""What they make of rounding errors, and of the sign of a NaN, is not specified."""

INDICES = "0 -1 1: :-1 ::2 ::-1 ...,0 None ...,None 0:0 np.array([0,-1]) np.array([-1,0,0])".split()
OPERATORS = "+ - * / // % ** < <= == != & |".split()
IN_PLACE = "+= -= *=".split()
METHODS = ".T .copy() .reshape(-1) .ravel() .real .sum() .sum(axis=0) .mean() .max() .astype(float)".split()
NUMBERS = ("1", "2", "-3", "0.5", "-1.5", "True", "np.float32(2)", "np.int64(3)")


def names() -> list[str]:
    """The ops that programs are made of: those that NumPy or SciPy has a function for."""
    return sorted(op.name for op in registry if numpy_function(op) is not None and op.name not in UNSPECIFIED)


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
    def source(self) -> str:
        parameters = ", ".join(f"a{number}" for number in range(len(self.arguments)))
        body = "\n".join([*self.lines, f"return ({', '.join(self.returned)},)"])
        return f"def program({parameters}):\n{textwrap.indent(body, '    ')}\n"

    def function(self, rounding: np.random.Generator | None = None) -> Any:
        """The function; with ``rounding``, each result that is rounded has another error."""
        same = lambda value: value  # noqa: E731
        noisy = same if rounding is None else lambda value: perturbed(value, rounding)
        space = {"np": np, "rounded": noisy, **self.names}
        exec(compile(self.source, "<program>", "exec"), space)
        return space["program"]

    def __str__(self) -> str:
        ops = "\n".join(f"# {name}: {each}" for name, each in self.names.items())
        given = "\n".join(f"a{number} = {each!r}" for number, each in enumerate(self.arguments))
        return f"{given}\n{ops}\n{self.source}"


class Use:
    """A call of an op with the static arguments of a sample."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.determined = call.op.determined

    def __call__(self, *arrays: Any) -> Any:
        return self.determined(self.call.function(*[aligned(each) for each in arrays]))

    def __repr__(self) -> str:
        return str(self.call)


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
        self.values[name] = value.copy() if isinstance(value, np.ndarray) else value
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
        given = [value for name, value in self.values.items() if name.startswith("a") and isinstance(value, np.ndarray)]
        return [name for name in found if not own or self.is_own(self.values[name], given)]

    def is_own(self, value: np.ndarray, given: list[np.ndarray]) -> bool:
        return value.flags.writeable and not any(np.may_share_memory(value, each) for each in given)

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
            if self.run(f"{clipped} = np.clip({name}, {low!r}, {high!r})"):
                return clipped
        return name

    def statement(self) -> None:
        kinds = (self.op_call,) * 6 + (self.operation, self.operation, self.method, self.part, self.alias)
        self.choose((*kinds, self.assignment, self.assignment, self.in_place, self.loop))()

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
        others = [each for other, each in self.values.items() if other != name and isinstance(each, np.ndarray)]
        shared = isinstance(value, np.ndarray) and any(np.may_share_memory(value, other) for other in others)
        if isinstance(value, (tuple, list)) or shared:
            self.program.lines[-1] = line.replace("rounded(", "(", 1)
        if isinstance(value, (tuple, list)):
            del self.values[name]
            for number in range(len(value)):
                self.values[part := f"{name}_{number}"] = value[number]
                self.program.lines.append(f"{part} = {name}[{number}]")

    def operation(self) -> None:
        if arrays := list(self.values):
            right = self.choose(NUMBERS) if self.chance(0.4) else self.choose(arrays)
            sides = [self.choose(arrays), right]
            self.rng.shuffle(sides)
            self.run(f"{self.new_name()} = rounded({sides[0]} {self.choose(OPERATORS)} {sides[1]})")

    def method(self) -> None:
        if arrays := self.arrays():
            self.run(f"{self.new_name()} = {self.choose(arrays)}{self.choose(METHODS)}")

    def part(self) -> None:
        if arrays := self.arrays():
            self.run(f"{self.new_name()} = {self.choose(arrays)}[{self.choose(INDICES)}]")

    def alias(self) -> None:
        if arrays := self.arrays():
            self.run(f"{self.new_name()} = {self.choose(arrays)}")

    def assignment(self) -> None:
        if arrays := self.arrays(own=True):
            value = self.choose(NUMBERS) if self.chance(0.3) else self.choose(list(self.values))
            sign = self.choose(("=", *IN_PLACE))
            self.run(f"{self.choose(arrays)}[{self.choose(INDICES)}] {sign} {value}")

    def in_place(self) -> None:
        if arrays := self.arrays(own=True):
            value = self.choose(NUMBERS) if self.chance(0.3) else self.choose(list(self.values))
            self.run(f"{self.choose(arrays)} {self.choose(IN_PLACE)} {value}")

    def loop(self) -> None:
        if arrays := self.arrays(own=True):
            name = self.choose(arrays)
            self.run(f"for i in range(2): {name}[i] {self.choose(IN_PLACE)} i + 2")
            self.values.pop("i", None)


def _is_small(value: Any) -> bool:
    """Whether results are supported, of few elements and dimensions."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_small, value))
    return is_supported(value) and np.size(value) <= LARGEST and np.ndim(value) <= 4


def draw(rng: np.random.Generator, names: list[str]) -> Program:
    """A program of a few statements that returns some of its values."""
    found = Draw(rng, names)
    found.new_argument(rng.uniform(-3, 3, (3, 4)))
    found.new_argument(rng.uniform(-3, 3, 4))
    if rng.random() < 0.3:
        found.new_argument(found.choose((2, -1.5, True, np.float32(0.5), np.int64(3))))
    for _ in range(int(rng.integers(1, 12))):
        found.statement()
    made = [name for name in found.values if name.startswith("v")]
    if made:
        found.program.returns_all = found.chance(0.5)
        some = [name for name in made if found.program.returns_all or found.chance(0.3)]
        found.program.returned = list(dict.fromkeys([*some, *made[-2:]]))
    return found.program
