"""How long compiled functions keep the Python functions that they call, and what finds them again."""

import gc
import os
import pickle
import subprocess
import sys
import traceback
import weakref

import numpy as np
from scipy import special

from numbagraph import (
    graph_jit,
    pure_callback,
)

X = np.arange(3.0)


def erf_of(x):
    return pure_callback(special.erf, x, x) + 1


def test_pickling():
    f = pickle.loads(pickle.dumps(graph_jit(erf_of)))
    np.testing.assert_array_equal(f(X), special.erf(X) + 1)


def test_the_function_lives_as_long_as_the_version():
    def make():
        def python(x):
            return x + offset[0]

        offset = np.ones(1)
        return graph_jit(lambda x: pure_callback(python, x, x)), weakref.ref(python)

    f, alive = make()
    gc.collect()
    np.testing.assert_array_equal(f(X), X + 1)
    assert alive() is not None
    f.cache_clear()
    np.testing.assert_array_equal(f(X), X + 1)
    del f
    for _ in range(3):  # what holds others through weak references goes first
        gc.collect()
    assert alive() is None


def test_functions_of_one_name_are_told_apart():
    def adding(number):
        return graph_jit(lambda x: pure_callback(lambda x: x + number, x, x))

    functions = [adding(number) for number in range(5)]
    for _ in range(2):
        for number, f in enumerate(functions):
            np.testing.assert_array_equal(f(X), X + number)
    del functions
    gc.collect()
    np.testing.assert_array_equal(adding(7)(X), X + 7)


SCRIPT = """
import sys, numpy as np
from numbagraph import graph_jit, pure_callback
def python(x):
    return x + {number}
f = graph_jit(lambda x: pure_callback(python, x, x) * 2)
print(f(np.ones(2))[0], f.cache_info().compiled)
"""


def test_the_cache_on_disk(tmp_path):
    for number, compiled in ((1, 1), (1, 0), (5, 0)):  # code knows the name alone
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(number=number))
        environment = {**os.environ, "NUMBAGRAPH_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [str((1.0 + number) * 2), str(compiled)]


def test_a_traceback_shows_the_users_lines():
    def failing(x):
        raise ValueError("no")

    try:
        graph_jit(lambda x: pure_callback(failing, x, x))(X)
    except ValueError as error:
        text = "".join(traceback.format_exception(error))
    assert 'raise ValueError("no")' in text
    assert "in the callback" in text
