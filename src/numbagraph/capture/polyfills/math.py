"""`math`, as far as it is made of loops, and of functions of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np


def frexp(x: Any) -> Any:
    mantissa, exponent = np.frexp(float(x))
    return float(mantissa), int(exponent)


def ldexp(x: Any, i: Any) -> Any:
    found = float(np.ldexp(float(x), i))
    if np.isinf(found) and not np.isinf(x):
        raise OverflowError("math range error")
    return found


def modf(x: Any) -> Any:
    fraction, whole = np.modf(float(x))
    return float(fraction), float(whole)


def prod(iterable: Any, start: Any = 1) -> Any:
    found = start
    for each in iterable:
        found = found * each
    return found


def factorial(n: Any) -> Any:
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    found = 1
    for k in range(2, n + 1):
        found *= k
    return found


def comb(n: Any, k: Any) -> Any:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    least = min(k, n - k)
    found = 1
    for i in range(1, least + 1):
        # the product may leave 64 bits where the quotient does not
        whole, rest = divmod(n - least + i, i)
        found = found * whole + found * rest // i
    return found


def perm(n: Any, k: Any = None) -> Any:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k is None:
        k = n
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 1
    if k > n:
        found = 0
    else:
        for i in range(n - k + 1, n + 1):
            found *= i
    return found


def dist(p: Any, q: Any) -> Any:
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    largest = 0.0
    for a, b in zip(p, q):  # noqa: B905  their lengths have been compared
        largest = max(largest, abs(a - b))
    if largest in (0.0, np.inf):
        return float(largest)
    total = 0.0
    for a, b in zip(p, q):  # noqa: B905
        total += ((a - b) / largest) ** 2
    return float(largest * np.sqrt(total))


PARTS = 64
"""The greatest number of parts of 53 bits, none of which overlap, in a sum."""


def fsum(seq: Any) -> Any:
    """Return the sum of numbers, rounded once: the errors of additions are kept as parts that do not overlap."""
    parts = np.zeros(PARTS)
    count = 0
    special = 0.0
    is_special = False
    for each in seq:
        x = float(each)
        if not np.isfinite(x):
            special += x
            is_special = True
        kept = 0
        for k in range(count):
            y = parts[k]
            high = x + y
            low = y - (high - x) if abs(x) >= abs(y) else x - (high - y)
            if low != 0.0:
                parts[kept] = low
                kept += 1
            x = high
        parts[kept] = x
        count = kept + 1
    if is_special:
        return special
    return rounded(parts, count)


def rounded(parts: Any, count: Any) -> Any:
    """Return the sum of parts that do not overlap, from the largest on; a half is rounded by the sign of the part
    below."""
    n = count
    high = 0.0
    low = 0.0
    if n > 0:
        n -= 1
        high = parts[n]
        while n > 0 and low == 0.0:
            n -= 1
            x, y = high, parts[n]
            high = x + y
            low = y - (high - x)
        if n > 0 and ((low < 0.0 and parts[n - 1] < 0.0) or (low > 0.0 and parts[n - 1] > 0.0)):
            y = low * 2.0
            x = high + y
            if y == x - high:
                high = x
    return float(high)


def modular_power(base: Any, exp: Any, mod: Any) -> Any:
    """``pow(base, exp, mod)`` of integers, by squares."""
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    square = base % mod
    if exp < 0:
        square = inverse(square, mod)
    rest = abs(exp)
    found = 1 % mod
    while rest > 0:
        if rest % 2 == 1:
            found = found * square % mod
        rest //= 2
        if rest > 0:
            square = square * square % mod
    return found


def inverse(number: Any, mod: Any) -> Any:
    """The inverse of a number modulo another one, by Euclid's algorithm."""
    one, other = number, mod
    factor, following = 1, 0
    while other != 0:
        quotient = one // other
        one, other = other, one - quotient * other
        factor, following = following, factor - quotient * following
    if abs(one) != 1:
        raise ValueError("base is not invertible for the given modulus")
    return factor * one % mod
