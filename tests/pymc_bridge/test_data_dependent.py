"""Ops of the mode whose results have lengths that data decide: masks, distinct elements, repetitions, positions."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = [
    pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.builders import OpFromGraph  # noqa: E402
from pytensor.scalar.basic import and_, or_, xor  # noqa: E402
from pytensor.tensor.elemwise import CAReduce  # noqa: E402
from pytensor.tensor.extra_ops import ravel_multi_index, unique, unravel_index  # noqa: E402

from numbagraph.pymc_bridge.compatibility import linalg  # noqa: E402
from tests.support.modes import NAME, PLAIN, same  # noqa: E402

x, y, m, i, j = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.lvector("i"), pt.lvector("j")
X, Y = np.array([1.0, -2.0, 0.0, 1.0, -0.5, 3.0]), np.array([0.5, 2.0, -1.0, 4.0])
M = np.array([[1.0, 0.0, -1.0, 2.0], [1.0, 0.0, -1.0, 2.0], [0.0, 3.0, 0.0, -2.0]])
INDICES, OTHERS = np.array([2, 0, 1, 2]), np.array([3, 1, 0, 2])
DATA = {x: X, y: Y, m: M, i: INDICES, j: OTHERS}
positive, square = x > 0, m[:, :3]

RESULTS = {
    "elements": x[positive],
    "rows": m[m[:, 0] > 0],
    "columns": m[:, y > 0],
    "matrix": m[m > 0],
    "a number beside": m[1, y > 0],
    "an array beside": m[i[:3], y > 0],
    "several masks": m[m[:, 0] > 0, y < 1],
    "twice": x[positive][x[positive] > 1],
    "sum": x[positive].sum() + pt.exp(x[~positive]).prod(),
    "of a result": (x[positive] * 2)[::-1] + pt.arange(x[positive].shape[0]),
    "inside": OpFromGraph([x], [x[x > 0] * 2])(x),
    "nonzero": pt.nonzero(m),
    "nonzero of integers": pt.nonzero(i),
    "flat": pt.flatnonzero(m),
    "set": pt.set_subtensor(x[positive], y[: positive.sum()]),
    "set one": pt.set_subtensor(x[positive], 7.0),
    "set integers": pt.set_subtensor(i[i > 1], 5),
    "set rows": pt.set_subtensor(m[m[:, 0] > 0], y),
    "set matrix": pt.set_subtensor(m[m > 0], pt.arange((m > 0).sum())),
    "set pairs": pt.set_subtensor(m[m[:, 0] > 0, y < 1], y[2:]),
    "increment": pt.inc_subtensor(x[positive], x[positive] ** 2),
    "increment columns": pt.inc_subtensor(m[:, y > 0], m[:, y > 0]),
    "increment a diagonal": pt.inc_subtensor(square[y[:3] > 0, y[:3] > 0], 0.5),
    "gradient": pytensor.grad((x[positive] ** 3).sum(), x),
    "gradient of a set": pytensor.grad((pt.set_subtensor(x[positive], y[:3] * 2) ** 2).sum(), [x, y]),
    "gradient of pairs": pytensor.grad((m[m[:, 0] > 0, y < 1] ** 2).sum(), m),
    "unique": unique(x),
    "unique with all": unique(m, return_index=True, return_inverse=True, return_counts=True),
    "unique integers": unique(i, return_inverse=True),
    "unique rows": unique(m, axis=0, return_counts=True),
    "unique columns": unique(m, axis=1, return_index=True, return_inverse=True),
    "groups": pt.zeros(unique(i).shape[0])[unique(i, return_inverse=True)[1]] + y,
    "repeat": pt.repeat(y, i),
    "repeat rows": pt.repeat(m, i[:3], axis=0),
    "gradient of repetitions": pytensor.grad((pt.repeat(y, i) ** 2).sum(), y),
    "unravelled": unravel_index(i + 3 * j, (4, 3)),
    "unravelled in Fortran's order": unravel_index(i, pt.stack([i[0] + 3, i[1] + 3]), order="F"),
    "a number unravelled": unravel_index(i[0], (3, m.shape[0])),
    "ravelled": ravel_multi_index((i, j), (3, 4)),
    "ravelled, clipped": ravel_multi_index((i * 7 - 3, j), (3, 4), mode="clip", order="F"),
    "ravelled, wrapped": ravel_multi_index((i * 7 - 3, j), (3, i[0] + 2), mode="wrap"),
    "permutation": [linalg.PivotToPermutations(inverse=each)(pt.maximum(i, pt.arange(4))) for each in (True, False)],
}


def compared(result, data):
    several = isinstance(result, (list, tuple))
    outputs = list(result) if several else [result]
    options = {"on_unused_input": "ignore"}
    ours, plain = (pytensor.function(list(data), outputs, mode=mode, **options) for mode in (NAME, PLAIN))
    same(ours(*data.values()), plain(*data.values()))


@pytest.mark.parametrize("name", RESULTS)
def test_result(name):
    compared(RESULTS[name], DATA)


@pytest.mark.parametrize("name", ["elements", "twice", "sum", "nonzero", "set one", "gradient", "unique with all"])
def test_nothing_and_all_are_selected_too(name):
    options = {"on_unused_input": "ignore"}
    outputs = RESULTS[name] if isinstance(RESULTS[name], (list, tuple)) else [RESULTS[name]]
    ours, plain = (pytensor.function([x, m], list(outputs), mode=mode, **options) for mode in (NAME, PLAIN))
    for number in (-1.0, 0.0, 2.0):
        for length in (1, 3, 0):
            data = np.full(length, number), np.full((2, length), number)
            same(ours(*data), plain(*data))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "bool"])
@pytest.mark.parametrize("op", [and_, or_, xor], ids=["and", "or", "xor"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
def test_reduction_of_bits(op, dtype, axis):
    values = pt.tensor3("values", dtype=dtype)
    data = (np.arange(24).reshape(2, 3, 4) * 37 % 251).astype(dtype)
    for each in (data, data[:, :0], data[:1, :1, :1]):
        compared(CAReduce(op, axis=axis)(values), {values: each})


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: x[y > 0], IndexError, "boolean index did not match"),
        (lambda: pt.set_subtensor(x[positive], y), ValueError, "mask is true|NumPy boolean array|shape"),
        (lambda: pt.repeat(y, i - 1), ValueError, "negative"),
        (lambda: pt.repeat(y, i[:2]), ValueError, None),
        (lambda: unravel_index(i + 90, (4, 3))[0], ValueError, "out of bounds"),
        (lambda: ravel_multi_index((i, j), (3, 3)), ValueError, "invalid entry"),
        (lambda: linalg.PivotToPermutations()(i + 9), (ValueError, IndexError), None),
    ],
)
@pytest.mark.filterwarnings("default::numbagraph.pymc_bridge.FallbackWarning")
def test_errors(build, error, message):
    compiled = pytensor.function(list(DATA), build(), mode=NAME, on_unused_input="ignore")
    with pytest.raises(error, match=message):
        compiled(*DATA.values())


def test_one_function_for_layouts_of_any_lengths():
    """The parts of a function that elements cut run for each layout of arguments, in any order of calls."""
    compiled = pytensor.function([m], [m[m > 0].sum(), m[m > 0]], mode=NAME)
    for _ in range(2):
        for data in (M, M.T, M[:1], M[:, ::2], np.asfortranarray(M), M[:, 1:2]):
            total, found = compiled(data)
            np.testing.assert_allclose(total, data[data > 0].sum(), rtol=1e-15)
            np.testing.assert_array_equal(found, data[data > 0])
            assert isinstance(total, np.ndarray)
            assert isinstance(found, np.ndarray)
