"""Parameters in dicts, lists and dataclasses that variables share in loops: best, last, mean."""

import collections
import contextlib
import dataclasses
import functools
import operator

import numpy as np
from tests.support.programs.declared import case

X = np.linspace(0.1, 2.0, 7)
VECTORS = ((X,), (X[::-1] * 1.7 - 0.5,))
RATES = ((0.1, 20), (0.3, 3), (0.05, 1))

import numpy as np, dataclasses, copy, sys


def loss(p):
    return (p["w"] - 3) ** 2 + (p["b"] + 1) ** 2


def gradl(p):
    return {"w": 2 * (p["w"] - 3), "b": 2 * (p["b"] + 1)}


@case(*RATES)
def best(lr, n):
    p = {"w": 0.0, "b": 0.0}
    best = p
    bl = loss(p)
    for _ in range(n):
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        l = loss(p)
        if l < bl:
            best = p
            bl = l
    return best["w"], best["b"], bl


@case(*RATES)
def old(lr, n):
    p = {"w": 0.0, "b": 0.0}
    d = 0.0
    for _ in range(n):
        old = p
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        d = abs(p["w"] - old["w"])
    return p["w"], d


@case(*RATES)
def mom(lr, n):
    p = {"w": 0.0, "b": 0.0}
    m = {"w": 0.0, "b": 0.0}
    for _ in range(n):
        g = gradl(p)
        m = {k: 0.9 * m[k] + g[k] for k in m}
        p = {k: p[k] - lr * m[k] for k in p}
    return p["w"], p["b"]


@case(*RATES)
def adam(lr, n):
    p = {"w": 0.0, "b": 0.0}
    m = v = {k: 0.0 for k in p}
    for t in range(1, n + 1):
        g = gradl(p)
        m = {k: 0.9 * m[k] + 0.1 * g[k] for k in m}
        v = {k: 0.99 * v[k] + 0.01 * g[k] ** 2 for k in v}
        p = {k: p[k] - lr * (m[k] / (1 - 0.9**t)) / (np.sqrt(v[k] / (1 - 0.99**t)) + 1e-8) for k in p}
    return p["w"], p["b"]


@case(
    (
        np.ones(3),
        20,
    )
)
def adama(p, n):
    m = v = np.zeros(3)
    for t in range(1, n + 1):
        g = 2 * (p - 3)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        p = p - 0.1 * m / (np.sqrt(v) + 1e-8)
    return p


@case(*RATES)
def avg(lr, n):
    p = {"w": 0.0, "b": 0.0}
    avg = p
    for k in range(1, n):
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        avg = {q: avg[q] + (p[q] - avg[q]) / k for q in avg}
    return avg["w"], p["b"]


@case(*RATES)
def listp(lr, n):
    p = [0.0, 0.0]
    best = p
    bl = 1e9
    for _ in range(n):
        old = p
        p = [p[0] - lr * 2 * (p[0] - 3), p[1] - lr * 2 * (p[1] + 1)]
        l = (p[0] - 3) ** 2 + (p[1] + 1) ** 2
        if l < bl:
            bl = l
            best = p
    return best[0], old[1]


@dataclasses.dataclass
class P:
    w: float
    b: float


@case(*RATES)
def dcp(lr, n):
    p = P(0.0, 0.0)
    best = p
    bl = 1e9
    for _ in range(n):
        old = p
        p = P(p.w - lr * 2 * (p.w - 3), p.b - lr * 2 * (p.b + 1))
        l = (p.w - 3) ** 2
        if l < bl:
            bl = l
            best = p
    return best.w, old.b


@case(*RATES)
def linesearch(lr, n):
    p = {"w": 0.0, "b": 0.0}
    for _ in range(n):
        g = gradl(p)
        s = 1.0
        new = {k: p[k] - s * g[k] for k in p}
        while loss(new) > loss(p) - 1e-4 * s * (g["w"] ** 2 + g["b"] ** 2):
            s *= 0.5
            new = {k: p[k] - s * g[k] for k in p}
            if s < 1e-10:
                break
        p = new
    return p["w"], p["b"]


@case(*RATES)
def history(lr, n):
    p = {"w": 0.0, "b": 0.0}
    h = []
    for _ in range(n):
        h.append(p["w"])
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
    return h[3] + h[-1]


@case(*RATES)
def histp(lr, n):
    p = {"w": 0.0, "b": 0.0}
    h = [p]
    for _ in range(n):
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        h.append(p)
    return h[3]["w"] + h[-1]["b"]


@case(*RATES)
def nested(lr, n):
    p = {"l1": {"w": 0.0}, "l2": {"w": 1.0}}
    for _ in range(n):
        p = {k: {"w": v["w"] - lr * 2 * (v["w"] - 3)} for k, v in p.items()}
    return p["l1"]["w"], p["l2"]["w"]


@case(*RATES)
def inplace(lr, n):
    p = {"w": 0.0, "b": 0.0}
    for _ in range(n):
        g = gradl(p)
        for k in p:
            p[k] -= lr * g[k]
    return p["w"], p["b"]


@case(*RATES)
def earlystop(lr, n):
    p = {"w": 0.0, "b": 0.0}
    best = p
    bl = 1e9
    bad = 0
    for _ in range(n):
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        l = loss(p)
        if l < bl - 1e-3:
            bl = l
            best = p
            bad = 0
        else:
            bad += 1
            if bad > 3:
                break
    return best["w"], bad


@case(*RATES)
def swap(lr, n):
    a = {"w": 0.0}
    b = {"w": 1.0}
    for _ in range(n):
        a, b = b, {"w": a["w"] + b["w"] * lr}
    return a["w"], b["w"]


@case(*RATES)
def accept(lr, n):
    p = {"w": 0.0, "b": 0.0}
    for k in range(n):
        q = {"w": p["w"] + 0.3 * np.sin(k), "b": p["b"] - 0.1}
        p = q if loss(q) < loss(p) else p
    return p["w"], p["b"]


@case(*RATES)
def tuplep(lr, n):
    p = (0.0, 0.0)
    best = p
    for _ in range(n):
        p = tuple(v - lr * 2 * (v - 3) for v in p)
        best = p if p[0] > best[0] else best
    return best


@case(*RATES)
def copyp(lr, n):
    p = {"w": 0.0, "b": 0.0}
    best = dict(p)
    for _ in range(n):
        g = gradl(p)
        p["w"] -= lr * g["w"]
        p["b"] -= lr * g["b"]
        if loss(p) < loss(best):
            best = dict(p)
    return best["w"], best["b"]


@case(*RATES)
def ema(lr, n):
    p = {"w": 0.0, "b": 0.0}
    e = p
    for _ in range(n):
        g = gradl(p)
        p = {k: p[k] - lr * g[k] for k in p}
        e = {k: 0.9 * e[k] + 0.1 * p[k] for k in p}
    return e["w"], p["w"]


import numpy as np, sys, dataclasses


@case(*RATES)
def histp(lr, n):
    p = {"w": 0.0, "b": 0.0}
    h = [p]
    for _ in range(n):
        p = {k: p[k] - lr * 2 * (p[k] - 3) for k in p}
        h.append(p)
    return h[3]["w"] + h[-1]["b"]


@case(*RATES)
def hist2(lr, n):
    h = []
    v = 0.0
    for k in range(n):
        v = v + lr
        h.append({"v": v, "k": k})
    return sum(e["v"] * e["k"] for e in h)


@case(*RATES)
def hist3(lr, n):
    h = []
    p = {"w": 0.0}
    for k in range(n):
        p["w"] += lr
        h.append(dict(p))
    return h[3]["w"]
