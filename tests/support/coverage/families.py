"""Which names there are, found in NumPy and SciPy themselves, each with a call of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import scipy.special

from numbagraph.ir.op import load
from tests.support.coverage import method_calls, numpy_calls, scipy_calls, special_calls, stats_calls

OPERANDS = "x y p q p".split()
OF_INTEGERS = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift left_shift right_shift gcd lcm"
UFUNCS = {
    **{name: f"np.{name}(i, j)" for name in OF_INTEGERS.split()},
    **{name: f"np.{name}(i)" for name in "bitwise_count bitwise_invert bitwise_not invert".split()},
    **{name: f"np.{name}(1 + x)" for name in ("acosh", "arccosh")},
    "ldexp": "np.ldexp(x, i)",
    "matmul": "np.matmul(A, S)",
    "matvec": "np.matvec(A, v)",
    "vecmat": "np.vecmat(v, S)",
}
ONLY_BOOLS = ("logical_and", "logical_or", "logical_xor")


class Family(NamedTuple):
    """Names that are counted together, each with the text of a call, or None where nobody has written one."""

    title: str
    calls: Mapping[str, str | None]
    refused: Mapping[str, str] = {}
    """What to write instead of functions that are refused by name."""


def table(text: str) -> dict[str, str]:
    """The rows of a table of calls."""
    rows = (line.partition(": ") for line in text.strip().splitlines())
    return {name: call for name, _, call in rows}


def with_calls(title: str, names: Iterable[str], calls: Mapping[str, str | None]) -> Family:
    """A family of names; calls of names that do not exist are an error."""
    names = sorted(names)
    unknown = sorted(set(calls) - set(names))
    if unknown:
        raise ValueError(f"{title} has no {', '.join(unknown)}")
    return Family(title, {name: calls.get(name) for name in names})


def functions_of(module: object, names: Iterable[str]) -> list[str]:
    """The names of functions that are no ufuncs and no classes."""
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return [
        name
        for name, each in found.items()
        if callable(each) and not isinstance(each, type) and not isinstance(each, np.ufunc)
    ]


def ufuncs_of(module: object) -> dict[str, np.ufunc]:
    found = {name: getattr(module, name) for name in dir(module)}
    return {name: each for name, each in found.items() if isinstance(each, np.ufunc)}


def usual(prefix: str, name: str, ufunc: np.ufunc) -> str:
    return f"{prefix}.{name}({', '.join(OPERANDS[: ufunc.nin])})"


def numpy_functions() -> Family:
    excluded = set(" ".join(numpy_calls.EXCLUDED.values()).split())
    names = {name for name in functions_of(np, dir(np)) if name not in excluded} | {*numpy_calls.REMOVED}
    family = with_calls("NumPy's functions", names, table(numpy_calls.CALLS))
    return Family(family.title, {**family.calls, **table(numpy_calls.FURTHER)})


def numpy_ufuncs() -> Family:
    excluded = set(" ".join(numpy_calls.EXCLUDED.values()).split())
    found = {name: each for name, each in ufuncs_of(np).items() if name not in excluded}
    return with_calls("NumPy's ufuncs", found, {name: usual("np", name, each) for name, each in found.items()} | UFUNCS)


def ufunc_methods() -> Family:
    """``reduce`` and its kin of ufuncs of two operands, and ``at`` of those that have one result."""
    calls = {}
    for name, ufunc in ufuncs_of(np).items():
        if ufunc.signature is not None or ufunc.nout > 1 or name in ("isnat", "ldexp") or ufunc.__name__ != name:
            continue
        first, second, target = ("i", "j", "k") if name in OF_INTEGERS.split() or "i" in UFUNCS.get(name, "") else "xyB"
        if ufunc.nin == 1:
            if any(set(each.split("->")[0]) <= set("dl") and each[-1] == each[0] for each in ufunc.types):
                calls[f"{name}.at"] = f"np.{name}.at({target}, [0, 2])"
            continue
        gives_own = any(each in ("dd->d", "ll->l") for each in ufunc.types) or name in ONLY_BOOLS
        if name in ONLY_BOOLS:
            first, second, target = "b", "m", "m"
        calls[f"{name}.outer"] = f"np.{name}.outer({first}, {second})"
        if gives_own:
            calls[f"{name}.at"] = f"np.{name}.at({target}, [0, 2], {second}[:2]{'.sum()' if target == 'B' else ''})"
            # NumPy's vector loops for AVX-512 reduce a vector of these wrongly, and columns of a matrix rightly
            whole = f"{first}[:4].reshape(2, 2)" if name in ("arctan2", "power") else first
            calls[f"{name}.reduce"] = f"np.{name}.reduce({whole})"
            calls[f"{name}.accumulate"] = f"np.{name}.accumulate({first})"
            calls[f"{name}.reduceat"] = f"np.{name}.reduceat({first}, [0, 2, 4])"
    return Family("Methods of NumPy's ufuncs", dict(sorted(calls.items())))


def special_ufuncs() -> Family:
    found = {name: each for name, each in ufuncs_of(scipy.special).items() if not name.startswith("_")}
    found = {name: each for name, each in found.items() if name not in special_calls.COMPLEX_ONLY.split()}
    plain = {name: usual("special", name, each) for name, each in found.items()}
    return with_calls("scipy.special's ufuncs", found, plain | table(special_calls.UFUNCS))


def array_methods() -> Family:
    names = [name for name in dir(np.ndarray) if not name.startswith("_")]
    counted = [name for name in names if name not in method_calls.NOT_NUMERIC.split()]
    return with_calls("Methods of arrays", counted, table(method_calls.ARRAY))


def generator_methods() -> Family:
    names = [name for name in dir(np.random.Generator) if not name.startswith("_")]
    counted = [name for name in names if name not in ("bit_generator", "spawn")]
    return with_calls("Methods of Generator", counted, table(method_calls.RANDOM))


def of_scipy(title: str, calls: str) -> Family:
    """A module's functions that a call is written of, and those that are refused."""
    advice = load("numbagraph.library.scipy.advice:ADVICE").get(title, {})
    refused = {name: text for name, text in advice.items() if name not in table(calls)}
    return Family(title, dict(sorted({**table(calls), **dict.fromkeys(refused)}.items())), refused)


def families() -> dict[str, Family]:
    """All of them, by the name of their page."""
    return {
        "numpy": numpy_functions(),
        "ufuncs": numpy_ufuncs(),
        "ufunc_methods": ufunc_methods(),
        "linalg": with_calls("numpy.linalg", functions_of(np.linalg, np.linalg.__all__), table(numpy_calls.LINALG)),
        "fft": with_calls("numpy.fft", functions_of(np.fft, np.fft.__all__), table(numpy_calls.FFT)),
        "arrays": array_methods(),
        "random": generator_methods(),
        "special_ufuncs": special_ufuncs(),
        "stats": Family("Distributions of scipy.stats", stats_calls.calls()),
        "special_functions": Family("scipy.special's functions of arrays", table(special_calls.FUNCTIONS)),
        **{name: of_scipy(*each) for name, each in scipy_calls.MODULES.items()},
    }
