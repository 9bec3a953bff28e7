"""One mathematical function of each element, in double and in single precision."""

import numpy as np

from .base import Problem, Workload, generator

DOMAINS = {
    "exp": (-10.0, 10.0),
    "exp2": (-10.0, 10.0),
    "expm1": (-2.0, 2.0),
    "log": (0.1, 100.0),
    "log2": (0.1, 100.0),
    "log10": (0.1, 100.0),
    "log1p": (-0.9, 10.0),
    "sqrt": (0.0, 100.0),
    "cbrt": (-10.0, 10.0),
    "sin": (-10.0, 10.0),
    "cos": (-10.0, 10.0),
    "tan": (-10.0, 10.0),
    "arcsin": (-1.0, 1.0),
    "arccos": (-1.0, 1.0),
    "arctan": (-5.0, 5.0),
    "sinh": (-5.0, 5.0),
    "cosh": (-5.0, 5.0),
    "tanh": (-5.0, 5.0),
    "arcsinh": (-5.0, 5.0),
    "arccosh": (1.0, 10.0),
    "arctanh": (-0.99, 0.99),
}
OF_TWO = {"arctan2": (-5.0, 5.0), "hypot": (-5.0, 5.0), "power": (0.1, 10.0)}
PRECISIONS = {"float64": 1e-10, "float32": 1e-4}
"""The tolerance for each dtype: JAX's functions are off by hundreds of units in the last place here and there."""


def workload(name: str, dtype: str) -> Workload:
    parameters = "x, y" if name in OF_TWO else "x"
    scope = {"np": np}
    exec(f"def {name}({parameters}):\n    return np.{name}({parameters})", scope)
    low, high = {**DOMAINS, **OF_TWO}[name]

    def problem(n: int) -> Problem:
        args = generator(n).uniform(low, high, size=(len(parameters.split(",")), n)).astype(dtype)
        return Problem(scope[name], tuple(args))

    label = name if dtype == "float64" else f"{name}_{dtype}"
    return Workload(label, (10_000, 1_000_000), problem, rtol=PRECISIONS[dtype], tags=frozenset({"functions"}))


WORKLOADS = tuple(workload(name, dtype) for dtype in PRECISIONS for name in (*DOMAINS, *OF_TWO))
