"""Functions of the module math, of Python's numbers."""

import math

from tests.support.programs.declared import case, refused


@case((12, 18), (0, 0), (-4, 6), (7, 0), (2**62, 2**61))
def divisors(a, b):
    if a > 10**30:
        return 0, 0, 0
    return math.gcd(a, b), math.gcd(a), math.gcd(a, b, 4)


@case((12, 18), (0, 0), (-4, 6), (7, 0))
def multiples(a, b):
    return math.lcm(a, b), math.lcm(a, b, 10)


@case(
    (0,),
    (1,),
    (15,),
    (16,),
    (17,),
    (2**62,),
    (2**63 - 1,),
    (3037000499**2,),
    (3037000499**2 - 1,),
    (-1,),
    (94906267**2 - 1,),
)
def whole_roots(n):
    return math.isqrt(n)


@case((2.5,), (-2.5,), (0.5,), (170.0,), (200.0,), (0.0,), (-3.0,), (float("nan"),), (float("inf"),), (float("-inf"),))
def gammas(x):
    return math.gamma(x)


@case((2.5,), (-2.5,), (0.5,), (0.0,), (-3.0,), (float("nan"),), (float("inf"),))
def log_gammas(x):
    return math.lgamma(x)


@case((0.5, 2.0), (-7.5, 2.0), (1.0, 0.0), (float("inf"), 1.0), (1.0, float("inf")), (float("nan"), 0.0))
def remainders(x, y):
    return math.fmod(x, y)


@case((0.5,), (1.0,), (-1.0,), (2.0,))
def inverse_tangents(x):
    return math.atanh(x)


@case((1.0, 1.0 + 1e-10), (1.0, 1.1), (float("inf"), float("inf")), (float("inf"), 1.0), (float("nan"), float("nan")))
def closeness(a, b):
    return math.isclose(a, b), math.isclose(a, b, rel_tol=0.2), math.isclose(a, b, abs_tol=0.2, rel_tol=0.0)


@case((3.0, 4.0), (-3.0, 4.0))
def hypotenuses(x, y):
    return math.hypot(x, y), math.hypot(x, y, 12.0), math.hypot(x)


@case((2, 10, 1000003), (5, 117, 19), (-3, 4, 7), (3, 4, -7), (3, 0, 1), (4, -1, 8), (-3, -2, 8), (3, 2, 0))
def powers_by_a_modulus(base, exponent, modulus):
    found = pow(base, exponent, modulus)
    if found > 100:
        return found, pow(found, 2)
    return found, pow(2, abs(found))


@case((97,), (561,), (1000003,), (1,))
def miller_rabin(n):
    if n < 2:
        return False
    for p in (2, 3, 5, 7):
        if n % p == 0:
            return n == p
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    for a in (2, 3, 5, 7):
        x = pow(a, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True
