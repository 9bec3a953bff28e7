"""Fit a logistic regression on real data: plain NumPy, one compiled kernel, SciPy's L-BFGS.

Prints the fit and how it agrees with scikit-learn's, what compiling cost, what a second process pays, the speed
against NumPy, and what the compiler did. Run it with ``make demo``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import numbagraph

PENALTY = 1.0


def load() -> tuple[np.ndarray, np.ndarray]:
    """The breast-cancer data set that ships with scikit-learn: 569 patients, 30 standardised features."""
    features, labels = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(features), labels.astype(np.float64)


def negative_log_posterior(parameters: np.ndarray, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of a logistic regression with a normal prior on the coefficients; the intercept comes last."""
    coefficients, intercept = parameters[:-1], parameters[-1]
    logits = features @ coefficients + intercept
    log_likelihood = np.sum(labels * logits - np.log1p(np.exp(logits)))
    return 0.5 * PENALTY * np.sum(coefficients**2) - log_likelihood


def numpy_value_and_grad(parameters: np.ndarray, features: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """What a careful NumPy user writes by hand."""
    coefficients, intercept = parameters[:-1], parameters[-1]
    logits = features @ coefficients + intercept
    value = 0.5 * PENALTY * np.sum(coefficients**2) - np.sum(labels * logits - np.logaddexp(0.0, logits))
    residuals = labels - 1.0 / (1.0 + np.exp(-logits))
    gradient = np.append(PENALTY * coefficients - features.T @ residuals, -np.sum(residuals))
    return value, gradient


def median_time(call: Callable[[], object], rounds: int = 15, repeats: int = 200) -> float:
    """The median over rounds of the mean time of a call, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - start) / repeats)
    return statistics.median(times)


def first_call() -> float:
    """The time from the decorator to the first value and gradient."""
    features, labels = load()
    start = time.perf_counter()
    objective = numbagraph.graph_jit(numbagraph.value_and_grad(negative_log_posterior))
    objective(np.zeros(features.shape[1] + 1), features, labels)
    return time.perf_counter() - start


def first_call_in_another_process(cache: str) -> float:
    """The same in a process of its own, imports excluded."""
    environment = {**os.environ, "NUMBAGRAPH_CACHE_DIR": cache}
    command = [sys.executable, __file__, "--first-call"]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    features, labels = load()
    objective = numbagraph.graph_jit(numbagraph.value_and_grad(negative_log_posterior))
    start = np.zeros(features.shape[1] + 1)
    options = {"gtol": 1e-10, "ftol": 1e-15, "maxiter": 10_000, "maxfun": 100_000}
    fit = minimize(objective, start, args=(features, labels), jac=True, method="L-BFGS-B", options=options)
    accuracy = np.mean((features @ fit.x[:-1] + fit.x[-1] > 0) == (labels == 1))

    reference = LogisticRegression(C=1.0 / PENALTY, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
    reference.fit(features, labels)
    expected = np.append(reference.coef_[0], reference.intercept_)
    difference = np.max(np.abs(fit.x - expected))

    print(f"L-BFGS: {fit.nit} iterations, {fit.nfev} evaluations")
    print(f"-log posterior {fit.fun:.6f}; accuracy {accuracy:.4f}")
    print(f"largest difference of a coefficient from scikit-learn's fit: {difference:.1e}")
    with tempfile.TemporaryDirectory() as cache:
        print(f"\ncold compile (value and gradient, empty cache): {1e3 * first_call_in_another_process(cache):.1f} ms")
        print(f"second process (cache full):                    {1e3 * first_call_in_another_process(cache):.1f} ms")
    compiled = median_time(lambda: objective(fit.x, features, labels))
    by_hand = median_time(lambda: numpy_value_and_grad(fit.x, features, labels))
    print(f"\nvalue and gradient: {1e6 * compiled:.1f} µs")
    print(f"NumPy by hand:      {1e6 * by_hand:.1f} µs ({by_hand / compiled:.1f} times)")
    print(f"\n{objective.explain(fit.x, features, labels)}")
    if difference > 1e-6:
        raise SystemExit("the fit disagrees with scikit-learn's")


if __name__ == "__main__":
    if sys.argv[1:] == ["--first-call"]:
        print(first_call())
    else:
        main()
