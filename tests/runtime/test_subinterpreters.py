"""Interpreters beside the main one: NumPy refuses to be imported there, or all works. Nothing crashes."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")

CODE = """
import sys
import warnings
warnings.simplefilter("ignore")  # NumPy's, that it is not made for this
import numpy as np
import numbagraph

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INSIDE = '''
import warnings
warnings.simplefilter("ignore")
try:
    import numpy as np
    import numbagraph
except ImportError as error:
    print("refused")
else:
    print(numbagraph.graph_jit(lambda x: x * 2 + 1)(np.ones(2)))
'''

def own():
    return numbagraph.graph_jit(lambda x, k: x * k, static_argnames="k")

if sys.argv[1] == "before":
    assert own()(np.ones(2), 3).tolist() == [3, 3]
for _ in range(2):
    other = interpreters.create()
    interpreters.run_string(other, INSIDE)
    interpreters.destroy(other)
function = own()
assert [function(np.ones(2), k).tolist() for k in (1, 2)] == [[1, 1], [2, 2]]
"""


@pytest.mark.parametrize("first", ["before", "after"])
def test_an_interpreter_beside_the_main_one(first):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", CODE, first]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.stderr, done.returncode) == ("", 0)
    assert set(done.stdout.splitlines()) <= {"refused", "[3. 3.]"}
    assert len(done.stdout.splitlines()) == 2
