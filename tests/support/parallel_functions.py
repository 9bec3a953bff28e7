"""Parallel functions, and ways to run them, for the tests of threads."""

import ctypes
import threading

import numpy as np

import numbagraph as ng
from numbagraph import graph_jit
from numbagraph.runtime.threads import pool
from numbagraph.testing import small_chunks

LONG = 300_000
THREADS = (1, 2, 3, 8)


def chain(x):
    return np.exp(-(x**2)) * np.tanh(x) + np.log1p(x * x)


def summary(x):
    return np.sum(chain(x)), np.mean(x), np.max(x), np.argmin(np.sin(x))


@graph_jit(parallel=True)
def model(x):
    return np.sum(chain(x)), chain(x)


def numbers(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def positive(count, n):
    """Matrices that are positive definite."""
    half = numbers(count * n * n).reshape(count, n, n)
    return half @ half.swapaxes(1, 2) + np.eye(n)


def call_model(n):
    return model(numbers(n))


def at_most(threads, f, *args):
    with ng.threads(threads):
        pool.get().set_limit(threads)
        return f(*args)


def cut(function, **options):
    """A parallel function whose loops are cut as finely as can be."""
    f = graph_jit(function, parallel=True, cache=False, **options)

    def call(*args, **kwargs):
        with small_chunks():
            return f(*args, **kwargs)

    return call


class Meeting:
    """Runs a task that waits until it is on a given number of threads at the same time."""

    def __init__(self, threads):
        self.barrier = threading.Barrier(threads)
        self.met = []
        self.task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.attend)
        self.run = pool.get().part.function("run", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def attend(self, _):
        self.met.append(threading.get_ident())
        self.barrier.wait(60)

    def hold(self, parts):
        self.run(ctypes.cast(self.task, ctypes.c_void_p), None, parts)
        return self.met
