"""Handlers, and jumps out of what they handle."""

import math
import numpy as np
from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X, 2.0), (X, 0.0))
def try_return(x, t):
    try:
        if t > 1:
            return x[0]
        return x[1]
    except ValueError:
        return 3.0


@case((X, 2.0), (X, 0.0))
def try_return2(x, t):
    try:
        return math.sqrt(t)
    finally:
        x[0] = t


@case((X, 2.0), (X, 0.0))
def try_else(x, t):
    s = x[1]
    for v in x:
        try:
            if v > t:
                break
            s += v
        except KeyError:
            s = -x[1]
        else:
            s += 10
        finally:
            s += 100
        s += 1000
    return s


@case((X, 2.0), (X, 0.0))
def try_continue(x, t):
    s = x[1]
    for v in x:
        try:
            if v > t:
                continue
            s += v
        except KeyError:
            s = -x[1]
        else:
            s += 10
        s += 1000
    return s


@case((X, 2.0), (X, 0.0))
def try_rest(x, t):
    s = x[1]
    try:
        if t > 1:
            return s
        s += 1
    except KeyError:
        s = -x[1]
    else:
        s += 10
    s += 1000
    return s


@case((X, 2.0), (X, 0.0))
def with_rest(x, t):
    s = x[1]
    for v in x:
        with np.errstate(all="ignore"):
            if v > t:
                continue
            if v < -0.5:
                break
            s += v
        s += 1000
    return s


@case((True, True), (False, True), (True, False))
def xors(a, b):
    r = a ^ True, a ^ b, True ^ a, a & True, a | True, a ^ False
    if a:
        return r
    return r
