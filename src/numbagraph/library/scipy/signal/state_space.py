"""Linear systems as matrices of a state, from quotients of polynomials and from zeros and poles, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, inexact, known
from numbagraph.library.scipy.signal.forms import tf2zpk, zpk2tf
from numbagraph.library.scipy.signal.transformations import normalised

MOST_OF_TRACES = 12
"""The largest matrix whose characteristic polynomial is found by traces of powers, without eigenvalues, which have no
derivative where two are equal; of larger ones, rounding would show."""


def tf2ss(num: Any, den: Any) -> tuple[Any, Any, Any, Any]:
    """`scipy.signal.tf2ss`: the form in which the denominator is the first row."""
    above, below = np.atleast_2d(inexact(num)), np.atleast_1d(inexact(den))
    kind = np.result_type(above.dtype, below.dtype)
    outputs, length = known(above, "tf2ss")
    order = known(below, "tf2ss")[0] - 1
    if length > order + 1:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    above, below = normalised(above.astype(kind), below.astype(kind))
    above = np.pad(above, [(0, 0), (order + 1 - length, 0)])
    if not order:
        return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((outputs, 1)), above
    matrix = np.concatenate([-below[None, 1:], np.eye(order - 1, order, dtype=kind)])
    return matrix, np.eye(order, 1), above[:, 1:] - above[:, :1] * below[1:], above[:, :1]


def zpk2ss(z: Any, p: Any, k: Any) -> tuple[Any, Any, Any, Any]:
    """`scipy.signal.zpk2ss`."""
    return tf2ss(*zpk2tf(z, p, k))


def abcd_normalize(A: Any = None, B: Any = None, C: Any = None, D: Any = None) -> tuple[Any, Any, Any, Any]:
    """`scipy.signal.abcd_normalize`: matrices that are not given are zero."""
    for names, parts in (("n", (A, B, C)), ("p", (B, D)), ("q", (C, D))):
        if all(each is None for each in parts):
            parameters = {"n": "A = B = C", "p": "B = D", "q": "C = D"}[names]
            raise ValueError(f"Dimension {names} is undefined for parameters {parameters} = None!")
    given = [np.zeros((0, 0)) if each is None else np.atleast_2d(inexact(each)) for each in (A, B, C, D)]
    a, b, c, d = (known(each, "a system") for each in given)
    states, inputs, outputs = a[0] or b[0] or c[1], b[1] or d[1], c[0] or d[0]
    wanted = {"A": (states, states), "B": (states, inputs), "C": (outputs, states), "D": (outputs, inputs)}
    for number, (name, shape) in enumerate(wanted.items()):
        own = known(given[number], "a system")
        if not all(own):
            given[number] = np.zeros(shape)
        elif own != shape:
            raise ValueError(f"Parameter {name} has shape {own} but should be {shape}!")
    return given[0], given[1], given[2], given[3]


def characteristic(matrix: Any) -> Any:
    """The characteristic polynomial of a matrix. [Faddeev and LeVerrier: Gantmacher, The Theory of Matrices, IV.5]"""
    count = known(matrix, "ss2tf")[0]
    if count > MOST_OF_TRACES:
        found = np.poly(matrix)
        return found.real if matrix.dtype.kind != "c" and found.dtype.kind == "c" else found
    identity = np.eye(count, dtype=matrix.dtype)
    coefficients, product = [np.ones((), matrix.dtype)], matrix
    for number in range(1, count + 1):
        coefficients.append(-np.trace(product) / number)
        product = matrix @ (product + coefficients[-1] * identity)
    return np.stack(coefficients)


def ss2tf(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any]:
    """`scipy.signal.ss2tf`."""
    a, b, c, d = abcd_normalize(A, B, C, D)
    outputs, inputs = known(d, "ss2tf")
    if input >= inputs:
        raise ValueError("System does not have the input specified.")
    if not known(a, "ss2tf")[0]:
        return np.ravel(d[:, input : input + 1]), np.ones(1)
    below = characteristic(a)
    if not outputs:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    column, direct = b[:, input : input + 1], d[:, input]
    rows = [characteristic(a - column @ c[row : row + 1]) + (direct[row] - 1) * below for row in range(outputs)]
    return np.stack(rows), below


def ss2zpk(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any, Any]:
    """`scipy.signal.ss2zpk` of a system whose numerator has the denominator's degree."""
    above, below = ss2tf(A, B, C, D, input)
    return tf2zpk(above[0], below)


def matrices_of(system: Any, discrete: bool = False) -> tuple[Any, Any, Any, Any, Any]:
    """Return the matrices of a system, an object of SciPy's or a tuple, and its step in time or None."""
    own, other = (load(f"scipy.signal:{name}") for name in (("dlti", "lti") if discrete else ("lti", "dlti")))
    if isinstance(system, other):
        kinds = "discrete-time dlti" if discrete else "continuous-time"
        raise AttributeError(f"this function can only be used with {kinds} systems.")
    if isinstance(system, own):
        matrices = system.to_ss()
        return matrices.A, matrices.B, matrices.C, matrices.D, system.dt
    parts, dt = (system[:-1], system[-1]) if discrete else (system, None)
    forms = {2: tf2ss, 3: zpk2ss, 4: abcd_normalize}
    if len(parts) not in forms:
        raise ValueError("`system` needs to be an instance of `lti` or have 2, 3 or 4 arguments.")
    return *forms[len(parts)](*parts), dt


STATE_SPACE: dict[str, Function] = {each.__name__: each for each in (abcd_normalize, ss2tf, ss2zpk, tf2ss, zpk2ss)}
