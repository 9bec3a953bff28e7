"""Vectors whose elements depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph import numpy as xp
from numbagraph.random.continuous import standard
from numbagraph.random.keys import as_shape, float_dtype, of_parameters


@of_parameters
def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Vectors of the multivariate normal distribution.

    Parameters
    ----------
    mean : array, shape (..., n)
    cov : array, shape (..., n, n)
        The covariance, which is positive definite. Both have derivatives.
    shape : int or tuple of int, optional
        The shape without the dimension of the vectors; by default that to which ``mean`` and ``cov`` broadcast.

    Returns
    -------
    array of ``dtype``, shape ``(*shape, n)``
        Those of ``jax.random.multivariate_normal``, up to rounding.

    Raises
    ------
    ValueError
        If ``mean`` is no vector, or ``cov`` no matrix.
    LinAlgError
        If ``cov`` is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from numbagraph import random
    >>> random.multivariate_normal(random.key(42), np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]])).round(3)
    array([-0.261, -2.788])
    """
    target = float_dtype(dtype)
    mean, cov = xp.asarray(mean, target), xp.asarray(cov, target)
    if mean.ndim < 1 or cov.ndim < 2:
        raise ValueError("multivariate_normal: mean is a vector, and cov a matrix")
    factor = np.linalg.cholesky(cov)
    if shape is None:
        whole = np.broadcast_arrays(mean, factor[..., 0])[0].shape
    else:
        whole = (*as_shape(shape), mean.shape[-1])
        mean = np.broadcast_to(mean, whole)
    numbers = standard(key, tuple(whole), target)
    return mean + np.matmul(factor, numbers[..., None])[..., 0]
