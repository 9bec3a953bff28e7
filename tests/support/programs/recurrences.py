"""Lists that grow from what they hold: sequences, trees walked by a stack, steps of solvers."""

import math

import numpy as np

from tests.support.programs.declared import case

FLOATS = np.array([3.0, -1.0, 2.0, 7.0, 0.5])


FLOATS, ONE = np.array([3.0, -1.0, 2.0, 7.0, 0.5]), np.array([4.0])


@case((6,), (1,), (0,))
def pascal(n):
    row = [1]
    for k in range(n):
        row.append(row[k] * (n - k) // (k + 1))
    return row


@case((10,), (2,))
def primes_trial(n):
    primes = [2]
    k = 3
    while len(primes) < n:
        for p in primes:
            if p * p > k:
                primes.append(k)
                break
            if k % p == 0:
                break
        k += 2
    return primes


@case((50,), (1,))
def ulam_like(n):
    seq = [1, 2]
    for k in range(3, n):
        if k % seq[-1] != 1:
            seq.append(k)
    return seq, len(seq)


@case((5, 0.1), (0, 0.1))
def euler_lists(n, h):
    t = [0.0]
    y = [1.0]
    for i in range(n):
        y.append(y[i] + h * (-2 * y[i] + t[i]))
        t.append(t[i] + h)
    return np.array(t), np.array(y)


@case((1.0,), (2.5,))
def adaptive(t1):
    ts = [0.0]
    ys = [1.0]
    h = 0.1
    while ts[-1] < t1:
        if ts[-1] + h > t1:
            h = t1 - ts[-1]
        y = ys[-1]
        k1 = -y
        k2 = -(y + h * k1)
        e = abs(h * (k2 - k1) / 2)
        if e < 1e-3:
            ts.append(ts[-1] + h)
            ys.append(y + h * (k1 + k2) / 2)
            h *= 1.5
        else:
            h *= 0.5
    return ts, ys


@case((7,), (1,), (-3,))
def to_binary(n):
    if n < 0:
        raise ValueError("negative")
    bits = []
    while n > 0:
        bits.append(n % 2)
        n //= 2
    bits.reverse()
    return bits


@case((4,), (1,), (0,))
def hanoi(n):
    moves = 0
    stack = [(n, 0, 2, 1)]
    while stack:
        k, a, b, c = stack.pop()
        if k == 0:
            continue
        if k == 1:
            moves += 1
            continue
        stack.append((k - 1, c, b, a))
        stack.append((1, a, b, c))
        stack.append((k - 1, a, c, b))
    return moves


@case((0.0, 1.0, 1e-6), (0.0, 3.0, 1e-4))
def adaptive_simpson(a, b, tol):
    f = lambda x: math.exp(-x * x)
    stack = [(a, b, tol)]
    total = 0.0
    while stack:
        l, r, t = stack.pop()
        m = (l + r) / 2
        s1 = (r - l) / 6 * (f(l) + 4 * f(m) + f(r))
        lm, rm = (l + m) / 2, (m + r) / 2
        s2 = (r - l) / 12 * (f(l) + 4 * f(lm) + 2 * f(m) + 4 * f(rm) + f(r))
        if abs(s2 - s1) < 15 * t:
            total += s2 + (s2 - s1) / 15
        else:
            stack.append((l, m, t / 2))
            stack.append((m, r, t / 2))
    return total


@case((FLOATS,), (np.zeros(0),))
def walk(x):
    path = [0]
    for v in x:
        path.append(path[-1] + (1 if v < 0.6 else -1))
    return path


@case((5,), (1,), (0,))
def josephus(n):
    people = list(range(n))
    out = []
    i = 0
    while people:
        i = (i + 2) % len(people)
        out.append(people.pop(i))
    return out
