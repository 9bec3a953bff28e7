"""`scipy.stats`: the multivariate normal distribution, and densities that are estimated from data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, inexact, known, refuse
from numbagraph.tracing.errors import OnlyTraced

LOG_OF_TWO_PI = math.log(2 * math.pi)


class Normal(OnlyTraced):
    """``scipy.stats.multivariate_normal(mean, cov)``."""

    advice = "return its densities"

    def __init__(self, mean: Any = None, cov: Any = 1, allow_singular: bool = False, seed: Any = None) -> None:
        if allow_singular or seed is not None:
            refuse("scipy.stats.multivariate_normal with allow_singular= or seed=", "give a regular covariance")
        self.mean, self.factor = parameters(mean, cov)

    def logpdf(self, x: Any) -> Any:
        distances = self.whitened(x)
        found = -0.5 * (np.sum(distances * distances, axis=-1) + self.dim * LOG_OF_TWO_PI) - self.log_of_factor()
        return np.squeeze(found)

    def pdf(self, x: Any) -> Any:
        return np.exp(self.logpdf(x))

    def entropy(self) -> Any:
        return 0.5 * self.dim * (LOG_OF_TWO_PI + 1) + self.log_of_factor()

    @property
    def dim(self) -> int:
        return known(self.factor, "a covariance")[0]

    def log_of_factor(self) -> Any:
        return np.sum(np.log(np.diagonal(self.factor)))

    def whitened(self, x: Any) -> Any:
        points = inexact(array(x))
        if points.ndim == 0:
            points = points[np.newaxis, np.newaxis]
        elif points.ndim == 1:
            points = points[:, np.newaxis] if self.dim == 1 else points[np.newaxis, :]
        return whiten(self.factor, points - self.mean)


def parameters(mean: Any, cov: Any) -> tuple[Any, Any]:
    """Return the mean, and the Cholesky factor of the covariance."""
    spread = inexact(array(cov))
    count = known(spread, "a covariance")[0] if spread.ndim else 1
    if mean is not None:
        mean = np.reshape(inexact(array(mean)), (-1,))
        count = max(count, known(mean, "a mean")[0])
    if spread.ndim < 2:
        spread = np.eye(count) * spread
    return np.zeros(count) if mean is None else mean, np.linalg.cholesky(spread)


def whiten(factor: Any, differences: Any) -> Any:
    """Return differences, along the last axis, in units of a covariance that has a Cholesky factor."""
    count = known(factor, "a covariance")[0]
    columns = np.reshape(differences, (-1, count)).T
    return np.reshape(np.linalg.solve(factor, columns).T, differences.shape)


class Density(OnlyTraced):
    """``scipy.stats.gaussian_kde(dataset)``."""

    advice = "return its values"

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        data = inexact(array(dataset))
        self.dataset = data[np.newaxis, :] if data.ndim == 1 else data
        self.d, self.n = known(self.dataset, "gaussian_kde")[0], self.dataset.shape[1]
        own = np.ones_like(self.dataset[0]) if weights is None else inexact(array(weights))
        self.weights = own / np.sum(own)
        self.neff = 1.0 / np.sum(self.weights**2)
        self.factor = self.bandwidth(bw_method)
        covariance = np.atleast_2d(np.cov(self.dataset, rowvar=True, bias=False, aweights=self.weights))
        self.covariance = covariance * self.factor**2
        self._cholesky = np.linalg.cholesky(self.covariance)

    def scotts_factor(self) -> Any:
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    def bandwidth(self, method: Any) -> Any:
        named = {None: self.scotts_factor, "scott": self.scotts_factor, "silverman": self.silverman_factor}
        if method is None or isinstance(method, str):
            if method not in named:
                raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
            return named[method]()
        return method(self) if callable(method) else method

    def _logarithms(self, points: Any) -> Any:
        """The logarithms of the kernels at each point, around each of the data."""
        at = np.atleast_2d(inexact(array(points)))
        own, other = (np.linalg.solve(self._cholesky, each) for each in (self.dataset, at))
        distances = np.sum((other[:, :, np.newaxis] - own[:, np.newaxis, :]) ** 2, axis=0)
        norm = 0.5 * self.d * LOG_OF_TWO_PI + np.sum(np.log(np.diagonal(self._cholesky)))
        return -0.5 * distances - norm

    def evaluate(self, points: Any) -> Any:
        return np.exp(self._logarithms(points)) @ self.weights

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Any:
        terms = self._logarithms(x) + np.log(self.weights)
        largest = np.max(terms, axis=1, keepdims=True)
        return np.log(np.sum(np.exp(terms - largest), axis=1)) + largest[:, 0]


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    return Normal(mean, cov, allow_singular).logpdf(x)


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    return Normal(mean, cov, allow_singular).pdf(x)


def entropy(mean: Any = None, cov: Any = 1) -> Any:
    return Normal(mean, cov).entropy()


def of_frozen(function: Any, owner: Any) -> Any:
    """Return the replacement of a method of a distribution, or of a density, that was made outside; None for others."""
    kind, name = type(owner).__name__, "__call__" if function is owner else getattr(function, "__name__", "")
    if not type(owner).__module__.startswith("scipy.stats."):
        return None
    if kind == "multivariate_normal_frozen" and name in ("logpdf", "pdf"):
        return getattr(Normal(owner.mean, owner.cov), name)
    if kind == "gaussian_kde" and name in ("__call__", "evaluate", "pdf", "logpdf"):
        return getattr(Density(owner.dataset, owner.factor, owner.weights), name)
    return None


METHODS = {"logpdf": logpdf, "pdf": pdf, "entropy": entropy}
"""The methods of ``scipy.stats.multivariate_normal`` itself."""
