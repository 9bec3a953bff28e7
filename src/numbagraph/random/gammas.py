"""Gamma numbers, and those that are made of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from numbagraph.ir.later import Later
from numbagraph.random.continuous import open_unit, standard
from numbagraph.random.keys import Shape, as_shape, first_accepted, fitted, float_dtype, of_parameters, split
from numbagraph.tracing.checks import require
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import apply

if TYPE_CHECKING:
    from numbagraph.ops.random import sample_derivatives
else:  # few functions differentiate what they draw
    sample_derivatives = Later("numbagraph.ops.random.sample_derivatives")


def log_gammas(key: Any, a: Any, shape: Shape, dtype: np.dtype) -> Any:
    """Logarithms of gamma numbers, which are finite where the numbers themselves are too small.

    Marsaglia, Tsang: A simple method for generating gamma variables (2000). A parameter below 1 is raised by 1, and the
    number multiplied with a power of a uniform one.
    """
    key, other = split(key)
    is_raised = a < 1
    d = np.where(is_raised, a + 1, a) - dtype.type(1 / 3)
    c = 1 / np.sqrt(9 * d)

    def propose(key: Any) -> tuple[Any, Any]:
        first, second = split(key)
        x = standard(first, shape, dtype)
        is_outside = 1 + c * x <= 0
        logarithm = 3 * np.log1p(c * np.where(is_outside, 0, x))
        limit = x * x / 2 + d * (1 - np.exp(logarithm) + logarithm)
        return logarithm, is_outside | (np.log(open_unit(second, shape, dtype)) > limit)

    found = first_accepted(key, shape, dtype, propose) + np.log(d)
    power = np.log(open_unit(other, shape, dtype)) / np.where(is_raised, a, 1)
    found = found + np.where(is_raised, power, 0)
    return found if current_trace() is None else apply(sample_derivatives.sampled_log_gamma, found, a)


@of_parameters
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Logarithms of numbers of the gamma distribution of scale 1.

    Parameters
    ----------
    a : float or array
        The parameter of its shape, which has a derivative: see `gamma`.

    Returns
    -------
    array of ``dtype``, shape ``shape``
        Finite, also where a number is less than the least float.

    Raises
    ------
    ValueError
        Unless ``a`` is positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.loggamma(random.key(42), 0.001).round(3)
    np.float64(-298.171)
    """
    target = float_dtype(dtype)
    shape, a = fitted(shape, target, a)
    require((a > 0) & (a < math.inf), ValueError, "gamma numbers need a positive, finite parameter")
    return log_gammas(key, a, shape, target)


@of_parameters
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the gamma distribution of scale 1.

    Parameters
    ----------
    a : float or array
        The parameter of its shape, which has a derivative: that of a number whose probability stays.

    Raises
    ------
    ValueError
        Unless ``a`` is positive.

    Notes
    -----
    Numbers are drawn by rejection (Marsaglia, Tsang: *A simple method for generating gamma variables*, 2000), the
    derivative is implicit (Figurnov, Mohamed, Mnih: *Implicit reparameterization gradients*, 2018), and there is no
    second one.

    Examples
    --------
    >>> from numbagraph import grad, random
    >>> key = random.key(42)
    >>> random.gamma(key, 2.5).round(3)
    np.float64(2.852)
    >>> grad(lambda a: random.gamma(key, a))(2.5).round(3)
    np.float64(1.141)
    """
    return np.exp(loggamma(key, a, shape, dtype))


@of_parameters
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the chi-square distribution.

    Parameters
    ----------
    df : float or array
        The degrees of freedom, which have a derivative: see `gamma`.

    Raises
    ------
    ValueError
        Unless ``df`` is positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.chisquare(random.key(42), 3.0).round(3)
    np.float64(3.374)
    """
    shape, df = fitted(shape, float_dtype(dtype), df)
    return 2 * gamma(key, df / 2, shape, dtype)


@of_parameters
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the beta distribution.

    Parameters
    ----------
    a, b : float or array
        Its parameters, which have derivatives: see `gamma`.

    Raises
    ------
    ValueError
        Unless ``a`` and ``b`` are positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.beta(random.key(42), 2.0, 3.0).round(3)
    np.float64(0.088)
    """
    shape, a, b = fitted(shape, float_dtype(dtype), a, b)
    first, second = split(key)
    one, other = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    return np.exp(one - np.logaddexp(one, other))


@of_parameters
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Vectors of the Dirichlet distribution, whose elements have the sum 1.

    Parameters
    ----------
    alpha : array, shape (..., n)
        Its parameters, which have derivatives: see `gamma`.
    shape : int or tuple of int, optional
        The shape without the dimension of the vectors; by default, that of ``alpha``.

    Returns
    -------
    array of ``dtype``, shape ``(*shape, n)``

    Raises
    ------
    ValueError
        Unless ``alpha`` is positive, and has a dimension.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.dirichlet(random.key(42), [1.0, 2.0, 3.0]).round(3)
    array([0.186, 0.299, 0.515])
    """
    target = float_dtype(dtype)
    _, alpha = fitted(None, target, alpha)
    if not alpha.ndim:
        raise ValueError("dirichlet: alpha has one dimension at least")
    whole = None if shape is None else (*as_shape(shape), alpha.shape[-1])
    logarithms = loggamma(key, alpha, whole, target)
    shifted = np.exp(logarithms - np.max(logarithms, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@of_parameters
def student_t(key: Any, df: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of Student's t distribution.

    Parameters
    ----------
    df : float or array
        The degrees of freedom, which have a derivative: see `gamma`.

    Raises
    ------
    ValueError
        Unless ``df`` is positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.student_t(random.key(42), 4.0).round(3)
    np.float64(-0.402)
    """
    target = float_dtype(dtype)
    shape, df = fitted(shape, target, df)
    first, second = split(key)
    half = df / 2
    return standard(first, shape, target) * np.exp((np.log(half) - loggamma(second, half, shape, target)) / 2)


@of_parameters
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the F distribution.

    Parameters
    ----------
    dfnum, dfden : float or array
        The degrees of freedom of the numerator and the denominator, which have derivatives: see `gamma`.

    Raises
    ------
    ValueError
        Unless ``dfnum`` and ``dfden`` are positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.f(random.key(42), 3.0, 8.0).round(3)
    np.float64(0.126)
    """
    target = float_dtype(dtype)
    shape, dfnum, dfden = fitted(shape, target, dfnum, dfden)
    keys = split(key)
    halves = dfnum / 2, dfden / 2
    above, below = (loggamma(keys[number], half, shape, target) - np.log(half) for number, half in enumerate(halves))
    return np.exp(above - below)
