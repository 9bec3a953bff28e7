"""Signatures of functions on vectors and matrices: the core dimensions of each operand and result, and their lengths.

They have all that NEP 20 has: names ``(m,n),(n,p)->(m,p)``, fixed lengths ``(3),(3)->(3)``, dimensions that may be
missing ``(m?,n),(n,p?)->(m?,p?)``, and dimensions that are repeated if their length is 1 ``(n|1),(n)->(n)``. Beyond
that, lengths of results by expressions ``(m),(n)->(m+n-1)`` or by a function, operands that are a length themselves
``(),<n>->(n)``, and conditions ``(n>=2)->()``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cache
from typing import NoReturn

from numbagraph.ir import shapes
from numbagraph.ir.shapes import Shape, ShapeError
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Extent

Lengths = dict[str, Extent]

_DIMENSION = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<size>\d+))\s*(?P<optional>\?)?\s*(?P<stretches>\|\s*1)?\s*"
    r"(?:(?P<condition>>=|<=|==|>|<)(?P<bound>.*))?"
)
_PARAMETER = re.compile(r"\s*<\s*([A-Za-z_]\w*)\s*>\s*")
_COMPARISONS = {">=": "greater_equal", "<=": "less_equal", "==": "equal", ">": "greater", "<": "less"}
_OPERATIONS: dict[type, Callable[[Extent, Extent], Extent]] = {
    ast.Add: shapes.add,
    ast.Sub: shapes.subtract,
    ast.Mult: shapes.multiply,
    ast.FloorDiv: shapes.floor_divide,
}
_FUNCTIONS = {"max": shapes.maximum, "min": shapes.minimum}


class SignatureError(ValueError):
    """A signature that cannot be read: the message points at the character that is wrong."""


class Expression(Struct):
    """A length in terms of others: integers and names with ``+ - * //``, ``max`` and ``min``."""

    text: str
    tree: ast.expr = field(compare=False)

    @property
    def names(self) -> Iterator[str]:
        functions = {id(each.func) for each in ast.walk(self.tree) if isinstance(each, ast.Call)}
        return (each.id for each in ast.walk(self.tree) if isinstance(each, ast.Name) and id(each) not in functions)

    @property
    def name(self) -> str | None:
        """The name, if it is no more than one."""
        return self.tree.id if isinstance(self.tree, ast.Name) else None

    def value(self, lengths: Lengths) -> Extent:
        return _value(self.tree, lengths)


def _value(tree: ast.expr, lengths: Lengths) -> Extent:
    if isinstance(tree, ast.Constant):
        return tree.value  # type: ignore[return-value]  # an integer, see `_require_length`
    if isinstance(tree, ast.Name):
        return lengths[tree.id]
    if isinstance(tree, ast.UnaryOp):
        return shapes.subtract(0, _value(tree.operand, lengths))
    if isinstance(tree, ast.BinOp):
        return _OPERATIONS[type(tree.op)](_value(tree.left, lengths), _value(tree.right, lengths))
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    result, *rest = (_value(each, lengths) for each in tree.args)
    for each in rest:
        result = _FUNCTIONS[tree.func.id](result, each)
    return result


def _is_length(tree: ast.AST) -> bool:
    """Whether a node of Python's grammar may be part of the expression of a length."""
    if isinstance(tree, ast.Constant):
        return type(tree.value) is int
    if isinstance(tree, ast.BinOp):
        return type(tree.op) in _OPERATIONS
    if isinstance(tree, ast.UnaryOp):
        return isinstance(tree.op, ast.USub)
    if isinstance(tree, ast.Call):
        return isinstance(tree.func, ast.Name) and tree.func.id in _FUNCTIONS and bool(tree.args) and not tree.keywords
    return isinstance(tree, ast.Name)


class Dimension(Struct):
    """A core dimension. Its length has a name or is fixed; in a result, it may also follow from other lengths."""

    length: Expression
    optional: bool = False
    """Whether it may be missing; it is then missing wherever its name stands."""
    stretches: bool = False
    """Whether it is repeated if its length is 1."""
    condition: tuple[str, Expression] | None = None

    @property
    def label(self) -> str:
        return self.length.text

    def __str__(self) -> str:
        condition = "".join((self.condition[0], self.condition[1].text)) if self.condition else ""
        return f"{self.label}{'?' * self.optional}{'|1' * self.stretches}{condition}"


class CoreShape(Struct):
    """The core dimensions of one operand or result; or, with ``parameter``, an operand that is a length."""

    dimensions: tuple[Dimension, ...]
    parameter: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(each.label for each in self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dimensions)

    def __str__(self) -> str:
        return f"<{self.parameter}>" if self.parameter else f"({','.join(map(str, self.dimensions))})"


class Binding(Struct):
    """The lengths of a signature for given operands."""

    lengths: Lengths
    missing: frozenset[str]
    """The dimensions that are missing."""
    ranks: tuple[int, ...]
    """For each operand, the number of its core dimensions."""

    def present(self, core: CoreShape) -> list[Dimension]:
        return [each for each in core if each.label not in self.missing]


class Signature(Struct):
    """The core dimensions of each operand and each result. All other dimensions are those of a batch."""

    inputs: tuple[CoreShape, ...]
    outputs: tuple[CoreShape, ...]

    def __str__(self) -> str:
        return "->".join(",".join(map(str, side)) for side in (self.inputs, self.outputs))

    @property
    def given(self) -> set[str]:
        """The names whose lengths follow from the operands."""
        names = {each.length.name for core in self.inputs for each in core}
        return {each for each in names if each} | {core.parameter for core in self.inputs if core.parameter}

    @property
    def open(self) -> list[str]:
        """The names that stand in results alone; a function has to give their lengths."""
        names = [each.length.name for core in self.outputs for each in core]
        return [each for each in dict.fromkeys(names) if each and each not in self.given]

    def bind(self, name: str, operands: Sequence[Shape | Extent]) -> Binding:
        """The lengths that the names stand for, given the operands' shapes; for a parameter, the length itself.

        Raises
        ------
        ShapeError
            If dimensions of one name have different lengths, an operand has too few dimensions, or a condition does
            not hold. What is known only when a function is called is required then.
        """
        shapes_ = [each if isinstance(each, tuple) else () for each in operands]
        missing = self._missing(name, shapes_)
        lengths: Lengths = {
            core.parameter: each  # type: ignore[misc]
            for core, each in zip(self.inputs, operands, strict=True)
            if core.parameter
        }
        origins = dict.fromkeys(lengths, "as given")
        binding = Binding(lengths, missing, ())
        ranks = tuple(len(binding.present(core)) for core in self.inputs)
        binding = Binding(lengths, missing, ranks)
        for number, (core, shape) in enumerate(zip(self.inputs, shapes_, strict=True)):
            for axis, dimension in enumerate(binding.present(core), start=-ranks[number]):
                where = f"axis {axis} of operand {number}, whose shape is {shapes.shape_text(shape)}"
                self._unify(name, dimension, shape[axis], where, lengths, origins)
        for dimension in (each for core in self.inputs for each in core):
            lengths.setdefault(dimension.label, 1)  # what is missing, and what is to be repeated once
            self._require_condition(name, dimension, lengths)
        return binding

    @property
    def is_plain(self) -> bool:
        """Whether the signature is one of NEP 20: each dimension is a number or has the name of a dimension of an
        operand."""
        cores = (*self.inputs, *self.outputs)
        return not self.open and all(re.fullmatch(r"[\w,()]*", str(core)) for core in cores)

    def plain(self, name: str, binding: Binding, others: Lengths | None = None) -> tuple[str, dict[str, Extent]]:
        """Return a plain signature for operands, in which each dimension has a name of its own, and the results'
        lengths."""
        shapes_ = self.output_shapes(name, binding, others)
        names = [[f"x{number}_{axis}" for axis in range(rank)] for number, rank in enumerate(binding.ranks)]
        results = [[f"y{number}_{axis}" for axis in range(len(shape))] for number, shape in enumerate(shapes_)]
        text = "->".join(",".join(f"({','.join(core)})" for core in side) for side in (names, results))
        lengths = (length for shape in shapes_ for length in shape)
        return text, dict(zip((each for core in results for each in core), lengths, strict=True))

    def batch_shape(self, name: str, operands: Sequence[Shape]) -> Shape:
        """Return the shape of the batch: the broadcast of the operands' other dimensions."""
        leading = [shape[: len(shape) - len(core)] for core, shape in zip(self.inputs, operands, strict=True)]
        return shapes.broadcast_shapes(leading, name)

    def _missing(self, name: str, operands: Sequence[Shape]) -> frozenset[str]:
        """Return the labels of dimensions that are missing: in an operand with too few dimensions, the first optional
        ones."""
        missing: set[str] = set()
        for number, (core, shape) in enumerate(zip(self.inputs, operands, strict=True)):
            while len(shape) < sum(each.label not in missing for each in core):
                label = next((each.label for each in core if each.optional and each.label not in missing), None)
                if label is None:
                    raise ShapeError(
                        f"{name}: operand {number}, of shape {shapes.shape_text(shape)}, has {len(shape)} dimensions, "
                        f"and needs at least {sum(not each.optional for each in core)}: {core} in {self}"
                    )
                missing.add(label)
        return frozenset(missing)

    def _unify(
        self, name: str, dimension: Dimension, extent: Extent, where: str, lengths: Lengths, origins: dict[str, str]
    ) -> None:
        label, extent = dimension.label, shapes.resolve(extent)
        if dimension.stretches and extent == 1:
            return
        if dimension.length.name is None:
            expected, origin = dimension.length.value({}), "fixed"
        else:
            expected, origin = lengths.get(label, extent), origins.setdefault(label, where)
        text = f"{name}: {where}, has length {extent}, but {label} is {shapes.resolve(expected)} in {self} ({origin})"
        may_stretch = dimension.stretches and not shapes.not_one(extent)
        join = shapes.broadcast_extents if may_stretch else shapes.require_same
        lengths[label] = join(expected, extent, text)

    def _require_condition(self, name: str, dimension: Dimension, lengths: Lengths) -> None:
        if dimension.condition is None:
            return
        operator, bound = dimension.condition
        length = lengths[dimension.label]
        text = f"{name}: {dimension} in {self}, but {dimension.label} is {shapes.resolve(length)}"
        shapes.require(shapes.compare(_COMPARISONS[operator], length, bound.value(lengths)), text)

    def output_shapes(self, name: str, binding: Binding, others: Lengths | None = None) -> list[Shape]:
        """The core shape of each result; ``others`` are the lengths of the names in `open`."""
        lengths = {**binding.lengths, **(others or {})}
        return [
            tuple(self._output_length(name, each, lengths) for each in binding.present(core)) for core in self.outputs
        ]

    def _output_length(self, name: str, dimension: Dimension, lengths: Lengths) -> Extent:
        length = dimension.length.value(lengths)
        known = ", ".join(f"{each} = {shapes.resolve(lengths[each])}" for each in dimension.length.names)
        text = f"{name}: the length {dimension.label} of a result is negative in {self}, with {known}"
        shapes.require(shapes.compare("greater_equal", length, 0), text)
        return length


@cache
def expression_tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@cache
def parse(text: str) -> Signature:
    """Read a signature.

    Raises
    ------
    SignatureError
        Points at the character that is wrong.

    Examples
    --------
    >>> str(parse("(m, n), (n, p) -> (m, p)"))
    '(m,n),(n,p)->(m,p)'
    """
    return Reader(text).signature()


class Reader:
    """A parser of signatures, from the left to the right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def signature(self) -> Signature:
        inputs = () if self.follows("->") else tuple(self.operands(results=False))
        self.expect("->")
        outputs = tuple(self.operands(results=True))
        self.skip_space()
        if self.position < len(self.text):
            self.fail("the end of the signature should stand here")
        return self.checked(Signature(inputs, outputs))

    def checked(self, signature: Signature) -> Signature:
        known = signature.given | set(signature.open)
        optional = {each.label for core in signature.inputs for each in core if each.optional}
        for core in (*signature.inputs, *signature.outputs):
            for each in core:
                used = [*each.length.names, *(each.condition[1].names if each.condition else ())]
                for name in used:
                    if name not in known:
                        self.fail(f"no operand says what {name} is", at=self.find_name(name))
        for core in signature.outputs:
            for each in core:
                if each.optional and each.label not in optional:
                    self.fail(f"{each.label} is not optional in any operand", at=self.text.rindex("?"))
        return signature

    def find_name(self, name: str) -> int:
        found = list(re.finditer(rf"\b{name}\b", self.text))
        return found[-1].start()

    def operands(self, *, results: bool) -> Iterator[CoreShape]:
        while True:
            parameter = None if results else self.parameter()
            yield self.core(results) if parameter is None else parameter
            if not self.take(","):
                return

    def parameter(self) -> CoreShape | None:
        found = _PARAMETER.match(self.text, self.position)
        if found is None:
            return None
        self.position = found.end()
        return CoreShape((), found[1])

    def core(self, results: bool) -> CoreShape:
        self.expect("(")
        if self.take(")"):
            return CoreShape(())
        dimensions = []
        for begin, end in self.parts():
            dimensions.append(self.result_dimension(begin, end) if results else self.dimension(begin, end))
        self.expect(")")
        return CoreShape(tuple(dimensions))

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield the beginning and the end of each dimension, up to the parenthesis that closes."""
        begin, depth = self.position, 0
        for position in range(self.position, len(self.text)):
            character = self.text[position]
            if character == ")" and not depth:
                self.position = position
                yield begin, position
                return
            depth += (character == "(") - (character == ")")
            if character == "," and not depth:
                yield begin, position
                begin = position + 1
        self.position = len(self.text)
        self.fail("')' should stand here")

    def dimension(self, begin: int, end: int) -> Dimension:
        found = _DIMENSION.fullmatch(self.text, begin, end)
        if found is None:
            self.fail("the name of a dimension, or its length, should stand here", at=begin)
        if found["size"] and (found["optional"] or found["stretches"] or found["condition"]):
            self.fail("a fixed length is neither optional, nor repeated, nor under a condition", at=found.start("size"))
        if found["optional"] and found["stretches"]:
            self.fail("a dimension is optional or repeated, not both", at=found.start("stretches"))
        group = "name" if found["name"] else "size"
        condition = None
        if found["condition"]:
            condition = (found["condition"], self.expression(found.start("bound"), end))
        length = self.expression(*found.span(group))
        return Dimension(length, bool(found["optional"]), bool(found["stretches"]), condition)

    def result_dimension(self, begin: int, end: int) -> Dimension:
        optional = self.text[begin:end].rstrip().endswith("?")
        stop = begin + self.text[begin:end].rindex("?") if optional else end
        return Dimension(self.expression(begin, stop), optional)

    def expression(self, begin: int, end: int) -> Expression:
        text = self.text[begin:end]
        begin += len(text) - len(text.lstrip())
        try:
            tree = expression_tree(text.strip())
        except SyntaxError:
            self.fail("a length should stand here", at=begin)
        for each in ast.walk(tree):
            if isinstance(each, ast.expr) and not _is_length(each):
                self.fail("lengths are integers and names with + - * //, max and min", at=begin + each.col_offset)
        return Expression("".join(text.split()), tree)

    def skip_space(self) -> None:
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1

    def follows(self, token: str) -> bool:
        self.skip_space()
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        """Go past a token, if it comes next."""
        found = self.follows(token)
        self.position += len(token) if found else 0
        return found

    def expect(self, token: str) -> None:
        if not self.take(token):
            self.fail(f"{token!r} should stand here")

    def fail(self, message: str, *, at: int | None = None) -> NoReturn:
        position = self.position if at is None else at
        raise SignatureError(f"{message}\n  {self.text}\n  {' ' * position}^")
