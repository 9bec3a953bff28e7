"""Increments of parts of arrays in the mode."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

INCREMENTS = {
    "row": lambda x, y, i, j: pt.inc_subtensor(x[j], y),
    "element": lambda x, y, i, j: pt.inc_subtensor(x[j, j - 1], y[0]),
    "column": lambda x, y, i, j: pt.inc_subtensor(x[:, j], y[1]),
    "slice": lambda x, y, i, j: pt.inc_subtensor(x[1:2], y),
    "positions": lambda x, y, i, j: pt.inc_subtensor(x[i], y),
    "pairs": lambda x, y, i, j: pt.inc_subtensor(x[i, i], y[:2]),
    "mask": lambda x, y, i, j: pt.inc_subtensor(x[x > 0], 2.0),
}


@pytest.mark.parametrize("name", INCREMENTS)
def test_what_is_not_incremented_keeps_the_signs_of_its_zeros(name):
    """1 / -0.0 is not 1 / 0.0: -0.0 plus nothing is no sum with 0.0."""
    x, y, i, j = pt.matrix("x"), pt.vector("y"), pt.lvector("i"), pt.lscalar("j")
    changed = INCREMENTS[name](x, y, i, j)
    results = [changed, *pytensor.grad(pt.sum(changed**2), [x, y], disconnected_inputs="ignore")]
    values = [np.array([[-0.0, 0.0, 1.0], [-0.0, 2.0, -0.0]]), np.array([1.0, -0.0, 2.5]), np.array([1, 1]), 1]
    arguments = {"on_unused_input": "ignore"}
    ours, theirs = (
        pytensor.function([x, y, i, j], results, mode=mode, **arguments)(*values)
        for mode in ("numbagraph", "FAST_COMPILE")
    )
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.signbit(ours[0]), np.signbit(theirs[0]))


@pytest.mark.parametrize("change", [pt.set_subtensor, pt.inc_subtensor], ids=["set", "increment"])
def test_numbers_out_of_bounds_beside_slices_of_nothing(change):
    x, start, number = pt.tensor3("x"), pt.lscalar("start"), pt.lscalar("number")
    compiled = pytensor.function([x, start, number], change(x[start:-5, :-4, number], 2.0), mode="numbagraph")
    values = np.ones((2, 5, 2))
    np.testing.assert_array_equal(compiled(values, 5, 1), values)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 2 with size 2"):
        compiled(values, 5, 5)
