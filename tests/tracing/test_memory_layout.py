"""Orders of memory while a function is traced: NumPy's elements and views, or an error that says what to write."""

import numpy as np
import pytest

from numbagraph import graph_jit
from tests.library.numpy.test_options import check, outcome

WHOLE = np.arange(12.0).reshape(3, 4)

IN_C = """
np.ravel(y,'K') np.ravel(y,order='A') np.ravel(y,'f') y.ravel('K') y.flatten('K') y.flatten(order='A') y.flatten('F')
np.reshape(y,(-1,),'A') y.reshape(-1,order='A') np.copy(y,'K') np.copy(y,order='F') y.copy('K') y.copy('A')
np.asarray(y,order='K') np.asarray(y,order='A') np.asanyarray(y,order='A') np.array(y,order='K') np.array(y,order='F')
np.array(y,order='A',copy=None) np.require(y) np.require(y,float) np.require(y,np.float32) np.require(y,None,'C')
np.require(y,None,'F') np.require(y,None,'CAW') np.require(y,None,[]) np.require(y,requirements=['c_contiguous','E'])
np.require(y,None,['F_CONTIGUOUS','ALIGNED']) np.require(y,int,'W')
""".split()


@pytest.mark.parametrize("call", IN_C)
@pytest.mark.parametrize("start", ["y = a + 1", "y = a[0] + 1", "y = np.zeros((3, 4)); y[1] = a[0]", "y = a"])
def test_orders_of_arrays_that_lie_in_c(call, start):
    """Writes into what a function gives reach its operand as with NumPy."""
    check(f"{start}; r = {call}; r[...] = 50; y * 1, r", WHOLE * 1.0)


def test_what_numpy_gives_for_reading_is_required_to_be_writable():
    check("y = a + 1; r = np.require(np.diagonal(y), None, 'W'); r[0] = 7; y, r", WHOLE)
    check("y = a + 1; r = np.require(np.broadcast_to(y, (2, 3, 4)), None, ['W', 'C']); r[0] = 7; y, r", WHOLE)
    check("y = a + 1; r = np.require(np.diagonal(y)); r[0] = 7; y, r", WHOLE)


def test_lists_are_required():
    check("r = np.require([a[0], a[1] * 2], np.float32, 'W'); r[0] = 7; r, r.ravel('K')", WHOLE)
    check("r = np.require(a[0, 1], None, 'C'); r + 1", WHOLE)


@pytest.mark.parametrize("requirements", ["CF", ["C", "FORTRAN"], ["x"], "Q"])
def test_requirements_that_numpy_refuses(requirements):
    for function in (
        lambda a: np.require(a, None, requirements),
        graph_jit(lambda a: np.require(a, None, requirements)),
    ):
        with pytest.raises((ValueError, KeyError)):
            function(WHOLE)


COPIES = """
np.copy(y.T) np.copy(y.T,'C') np.copy(y.T,order='F') np.array(y.T) np.array(y.T,order='C') np.array(y.T,float)
np.array(y.T,np.float32) y.T.copy() y.T.copy('K') y.T.copy('A') y.T.astype(float) y.T.astype(np.float32,order='C')
np.array([y[0],y[1]]) np.array([y[0],y[1]],order='F') np.array(y,float) np.array(y,np.float32) y.astype(np.float32)
y.astype(np.float32,order='F') np.astype(y.T,np.float32) np.asarray(y,np.float32) np.asarray(y.T,np.float32)
np.copy(HELD) np.copy(HELD,'C') HELD.copy() HELD.copy('K') np.array(HELD) np.array(HELD,float,order='C')
np.require(y.T,None,'C') np.require(y.T,np.float32) np.ascontiguousarray(y.T)
""".split()
FLAT = (
    "c.ravel() c.ravel('F') c.ravel('K') c.ravel('A') c.reshape(-1) c.reshape((-1,),order='A') np.ravel(c,'K')".split()
)
HELD = np.asfortranarray(WHOLE)
"""An array of an enclosing scope that does not lie in C order."""


@pytest.mark.parametrize("copy", COPIES)
def test_copies_lie_as_those_of_numpy(copy, tmp_path):
    """A copy in the order of memory is not one in C order: what is then a view, and what a copy, differs."""
    compiled = 0
    for number, flat in enumerate(FLAT):
        path = tmp_path / f"copy{number}.py"
        path.write_text(
            f"import numpy as np\n\n\ndef function(a):\n    y = a + 1\n    c = {copy}\n    r = {flat}\n    r[1] = 50\n"
            "    return y, c, r\n"
        )
        scope = {"HELD": HELD.copy("F")}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        found = outcome(graph_jit(scope["function"]), WHOLE)
        if isinstance(found, TypeError):
            assert "assign into a copy" in str(found) or 'write order="C"' in str(found)
            continue
        compiled += 1
        for own, other in zip(found, scope["function"](WHOLE), strict=True):
            np.testing.assert_array_equal(own, other, flat)
    assert compiled or ".T" in copy or "F" in copy or "HELD" in copy


@pytest.mark.parametrize(
    "call", ["np.ravel(a, 'K')", "a.ravel(order='A')", "a.flatten('K')", "a.reshape(-1, order='A')"]
)
@pytest.mark.parametrize("cut", [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::2]])
def test_orders_of_memory_that_are_not_known(call, cut):
    function = eval(f"lambda a: {call}", {"np": np})
    with pytest.raises(TypeError, match=r'(?s)order=.* not known to be C here: write order="C" or order="F"'):
        graph_jit(function)(cut(WHOLE))


def test_orders_of_one_dimension_are_one():
    """Backwards, with gaps, a row, a column, and an array without elements."""
    for array in (WHOLE[0, ::-1], WHOLE[:, 1], WHOLE[:1, ::2], WHOLE[:, 2:3], WHOLE[:0, 0]):
        for call in ("a.ravel('K')", "np.ravel(a, 'A')", "a.flatten('K')", "a.reshape(-1, order='A')"):
            check(f"{call} + 1", array)


def test_what_is_asked_to_own_its_memory_is_not_written_into():
    def function(a, write):
        y = a + 1
        r = np.require(y, None, "O")
        if write:
            r[0] = 1
        return r

    np.testing.assert_array_equal(graph_jit(function, static_argnames="write")(WHOLE, False), WHOLE + 1)
    with pytest.raises(TypeError, match=r"assign into a copy \(x\.copy\(\)\)"):
        graph_jit(function, static_argnames="write")(WHOLE, True)
