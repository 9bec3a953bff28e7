"""Random small graphs of the registry's ops: optimised native code gives what NumPy gives, step by step."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

import numbagraph.numpy as xp
from numbagraph import grad, graph_jit
from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import COMPLEX128, DTYPES, FLOAT32, FLOAT64, INT64
from numbagraph.ir.values import Node, Unsupported
from numbagraph.testing import assert_same, samples
from numbagraph.testing.op_calls import is_supported
from numbagraph.tracing.tracer import apply
from tests.support.graphs import make_input

scatter_add = partial(apply, registry["scatter_add"])
LENGTHS = (0, 1, 2, 3, 5, 17)
LARGEST = 4000

SIGN_OF_NAN = ("copysign", "signbit")
"""What they make of a NaN that another operation gave is not specified."""

ELEMENTWISE = sorted(
    op.name
    for op in registry
    if op.kind == "elementwise" and isinstance(numpy_function(op), np.ufunc) and op.name not in SIGN_OF_NAN
)


def is_smooth(op):
    """Whether there is a derivative by each operand."""
    if isinstance(op.vjp, Unsupported):
        return False
    try:
        value = op(*[make_input(np.ones(3), f"x{number}") for number in range(numpy_function(op).nin)])
    except TypeError:  # the last operand is an integer
        return True
    derivatives = op.vjp(value, value, *value.inputs, **value.attrs) if isinstance(value, Node) else ()
    return not any(isinstance(each, Unsupported) for each in derivatives)


SMOOTH = [name for name in ELEMENTWISE if is_smooth(registry[name])]
OF_REAL_NUMBERS = [name for name in ELEMENTWISE if registry[name].implements[0] not in vars(np).values()]
"""SciPy's functions, some of which SciPy has for complex numbers too."""

REDUCTIONS = sorted(op.name for op in registry if op.kind == "reduction" and hasattr(np, op.name))
VIEWS = {
    "transposed": np.transpose,
    "reversed": lambda x: x[::-1],
    "shortened": lambda x: x[..., 1:],
    "extended": lambda x: x[..., None],
    "raised": lambda x: x[None],
    "flattened": lambda x: x.reshape(-1),
}


def shifted(x):
    y = x.copy()
    y[1:] = y[:-1] + y[1:]
    y[0] += 1
    return y


def placed(x):
    y = np.zeros_like(x)
    y[np.array([-1, 0])] = x[:2]
    return y


def scattered(x):
    """Added up at places that are computed in a nest of their own."""
    y = x.reshape(-1)
    places = (np.cumsum(np.ones_like(y.real)) * 0.5).astype(int)
    if type(y) is np.ndarray:
        total = np.zeros(y.size + 1, y.dtype)
        np.add.at(total, places, y)
        return total[: y.size]
    return scatter_add(y, places, (y.size + 1,))[: y.size]


OTHERS = {
    "accumulated": lambda x: np.cumsum(x, axis=-1),
    "accumulated down": lambda x: np.cumsum(x, axis=0),
    "joined": lambda x: np.concatenate([x, x[::-1]]),
    "stacked": lambda x: np.stack([x, x + x], axis=-1),
    "taken": lambda x: x[np.array([0, -1, 0])],
    "taken inside": lambda x: x[..., np.array([[1, 0]])],
    "multiplied": lambda x: x @ x.T,
    "normalised": lambda x: x / (1 + np.sum(abs(x), axis=-1, keepdims=True)),
    "centred": lambda x: x - np.mean(x, axis=0),
    "scattered": scattered,
    "shifted": shifted,
    "placed": placed,
}


@dataclass
class Step:
    """One operation of a program on values before it."""

    name: str
    function: Any
    operands: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)
    exact: bool = False

    def run(self, values):
        return self.function(*[values[each] for each in self.operands], **self.options)

    def __repr__(self):
        options = "".join(f", {name}={each}" for name, each in self.options.items())
        return f"{self.name}({', '.join(f'v{each}' for each in self.operands)}{options})"


@dataclass
class Program:
    arrays: list[Any]
    steps: list[Step]
    outputs: list[int]

    def __call__(self, *arrays):
        values = list(arrays)
        for step in self.steps:
            values.append(step.run(values))
        return tuple(values[each] for each in self.outputs)

    def perturbed(self, rng):
        """The same with rounding errors of its own, from which follows how exact the results can be."""
        values = list(self.arrays)
        for step in self.steps:
            value = np.asarray(step.run(values))
            if value.dtype.kind in "fc" and not step.exact:
                value = value * (1 + np.finfo(value.dtype).eps * rng.uniform(-4, 4, value.shape)).astype(value.dtype)
            values.append(value)
        return [values[each] for each in self.outputs]

    @property
    def exact(self):
        return all(step.exact for step in self.steps)

    def __repr__(self):
        lines = [f"v{number} = {array!r}" for number, array in enumerate(self.arrays)]
        lines += [f"v{number + len(self.arrays)} = {step!r}" for number, step in enumerate(self.steps)]
        return "\n".join([*lines, "return " + ", ".join(f"v{each}" for each in self.outputs)])


def domain_of(name):
    """The interval that an op's own samples come from."""
    arrays = [array for call in samples(registry[name], FLOAT64) for array in call.arrays]
    return min(array.min() for array in arrays), max(array.max() for array in arrays)


@st.composite
def arrays(draw, dtypes):
    dtype = draw(st.sampled_from(dtypes))
    rows, columns = draw(st.sampled_from(LENGTHS)), draw(st.sampled_from(LENGTHS))
    shapes = [(), (columns,), (rows, columns), (1, columns), (rows, 1)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, 3))
    result = []
    for shape in [shapes[2], *draw(st.lists(st.sampled_from(shapes), min_size=count - 1, max_size=count - 1))]:
        numbers = rng.uniform(-3, 3, shape)
        if dtype.kind == "c":
            numbers = numbers + 1j * rng.uniform(-3, 3, shape)
        array = np.asarray(np.abs(numbers) if dtype.kind == "u" else numbers).astype(dtype)
        result.append(array[..., ::-1] if array.ndim and draw(st.booleans()) else array)
        if draw(st.integers(0, 3)) == 0:
            dtype = draw(st.sampled_from(dtypes))
    return result


@st.composite
def programs(draw, dtypes=DTYPES, names=ELEMENTWISE, reductions=REDUCTIONS):
    """Steps are tried on NumPy as they are drawn: what NumPy refuses is not taken."""
    inputs = draw(arrays(dtypes))
    values, steps = list(inputs), []
    for _ in range(draw(st.integers(1, 8))):
        for step in draw(steps_on(len(values), names, reductions)):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    value = step.run(values)
            except (TypeError, ValueError, IndexError):
                break
            with_complex = np.iscomplexobj(value) or any(np.iscomplexobj(values[each]) for each in step.operands)
            if not is_supported(value) or np.size(value) > LARGEST or np.ndim(value) > 4:
                break
            if with_complex and step.name in OF_REAL_NUMBERS:
                break
            step.exact = step.exact and not with_complex
            values.append(value)
            steps.append(step)
    outputs = sorted({len(values) - 1, draw(st.integers(0, len(values) - 1))})
    return Program(inputs, steps, outputs)


@st.composite
def steps_on(draw, count, names, reductions):
    operand = st.integers(max(0, count - 4), count - 1)
    kind = draw(st.sampled_from(["elementwise"] * 5 + ["reduction", "view", "other", "other"]))
    if kind == "other":
        name = draw(st.sampled_from(sorted(OTHERS)))
        return [Step(name, OTHERS[name], (draw(operand),))]
    if kind == "reduction":
        options = {"axis": draw(st.sampled_from([None, 0, -1])), "keepdims": draw(st.booleans())}
        name = draw(st.sampled_from(reductions))
        return [Step(name, getattr(xp, name), (draw(operand),), options)]
    if kind == "view":
        name = draw(st.sampled_from(sorted(VIEWS)))
        return [Step(name, VIEWS[name], (draw(operand),), exact=True)]
    name = draw(st.sampled_from(names))
    low, high = domain_of(name)
    function = numpy_function(registry[name])
    operands = [draw(operand) for _ in range(function.nin)]
    steps = []
    for position, each in enumerate(operands):
        if draw(st.booleans()):  # outside of its domain an op gives NaN, which is soon all that there is
            steps.append(
                Step("clipped", lambda x, low=low, high=high: np.clip(np.real(x), low, high), (each,), exact=True)
            )
            operands[position] = count + len(steps) - 1
    return [*steps, Step(name, function, tuple(operands), exact=registry[name].ulp == 0)]


def numpy_results(program):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = program(*program.arrays)
        spread = [program.perturbed(np.random.default_rng(seed)) for seed in range(3)]
    return expected, spread


def assert_near(actual, expected, spread, what):
    """Equal up to what rounding can do to this very result."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), what
    if expected.dtype.kind not in "fc":
        stable = np.all([np.asarray(each) == expected for each in spread], axis=0)
        assert np.array_equal(actual[stable], expected[stable]), what
        return
    with np.errstate(all="ignore"):
        stable = np.all([np.isfinite(each) == np.isfinite(expected) for each in spread], axis=0)
        finite = np.isfinite(expected)
        deviation = np.max([np.abs(each - expected) for each in spread], axis=0, initial=0)
        bound = 100 * deviation + 256 * np.finfo(expected.dtype).eps * np.maximum(np.abs(expected), 1)
        bad = stable & finite & ~(np.abs(actual - expected) <= bound)
        wrong_class = stable & ~finite & np.isfinite(actual)
    assert not bad.any(), f"{what}: {expected[bad][:3]} expected, found {actual[bad][:3]}, bound {bound[bad][:3]}"
    assert not wrong_class.any(), f"{what}: {expected[wrong_class][:3]} expected, found {actual[wrong_class][:3]}"


@given(programs())
def test_optimised_native_code_gives_what_numpy_gives(program):
    note(repr(program))
    expected, spread = numpy_results(program)
    actual = graph_jit(program, cache=False)(*program.arrays)
    for number, (each, wanted) in enumerate(zip(actual, expected, strict=True)):
        if program.exact and np.asarray(wanted).dtype.kind != "c":
            assert_same(each, wanted, boxed=False, what=f"output {number}")
        else:
            assert_near(each, wanted, [results[number] for results in spread], f"output {number}")


@given(programs(dtypes=(FLOAT64, INT64)))
def test_donated_arguments_change_no_result(program):
    note(repr(program))
    expected, spread = numpy_results(program)
    f = graph_jit(program, cache=False, donate_argnames="arrays")
    actual = f(*[np.array(array, order="K") for array in program.arrays])
    for number, (each, wanted) in enumerate(zip(actual, expected, strict=True)):
        assert_near(each, wanted, [results[number] for results in spread], f"output {number}")


@given(programs(dtypes=(FLOAT64, FLOAT32, INT64)))
def test_one_version_serves_every_length(program):
    """The same code on arrays that are cut shorter, or repeated."""
    note(repr(program))
    f = graph_jit(program, cache=False)
    f(*program.arrays)
    longer = Program(
        [
            np.concatenate([each] * 3, axis=-1) if np.ndim(each) and each.shape[-1] != 1 else each
            for each in program.arrays
        ],
        program.steps,
        program.outputs,
    )
    try:
        expected, spread = numpy_results(longer)
    except (ValueError, IndexError):
        return
    for number, (each, wanted) in enumerate(zip(f(*longer.arrays), expected, strict=True)):
        assert_near(each, wanted, [results[number] for results in spread], f"output {number}")


@given(programs(dtypes=(FLOAT64, COMPLEX128), names=SMOOTH, reductions=["sum", "mean", "max", "prod"]))
def test_gradients_of_native_code_are_those_of_the_interpreter(program):
    note(repr(program))
    if any(np.asarray(array).dtype.kind != "f" for array in program.arrays):
        return

    def loss(*arrays):
        return sum(np.sum(np.real(each) * 1.0) for each in program(*arrays))

    gradient = grad(loss, argnums=tuple(range(len(program.arrays))))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = graph_jit(gradient, backend="numpy")(*program.arrays)
        shifted = [each * (1 + 1e-14) for each in program.arrays]
        spread = graph_jit(gradient, backend="numpy")(*shifted)
    actual = graph_jit(gradient, cache=False)(*program.arrays)
    for each, wanted, near in zip(actual, expected, spread, strict=True):
        assert_near(each, wanted, [near], "gradient")
