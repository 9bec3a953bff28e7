"""The native entry among threads and processes, and what it leaves in memory."""

import ast
import contextlib
import ctypes
import gc
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import numba
import numpy as np
import pytest

import numbagraph
import numbagraph.numpy as xp
from numbagraph import graph_jit
from numbagraph.forking import new_lock
from numbagraph.ir.abi import OUT_OF_MEMORY, ArrayLeaf, NativeSignature, Result, ScalarLeaf
from numbagraph.runtime import objects
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.entry import EntryPlan, make_callable
from tests.support.native_programs import (
    ADD_ONE,
    FLOAT,
    add_one,
    donating,
    identity,
    native,
    plan,
    program_text,
    shapes_text,
    vector,
)


def sleeping(threshold):
    signature = NativeSignature((), (), (), single=False)
    body = "%ignored = call i32 @usleep(i32 200000)"
    return native(signature, shapes_text([], work=100), program_text(body), gil_threshold=threshold)


@pytest.mark.parametrize(("threshold", "released"), [(99, True), (100, False)])
def test_long_programs_release_the_gil(threshold, released):
    ticks = 0
    running = True

    def count():
        nonlocal ticks
        while running:
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    while not ticks:
        time.sleep(0.001)
    function, progress = sleeping(threshold), []
    for _ in range(5):  # a busy machine may not give the other thread a core in a call, or keep this one off before it
        before = ticks
        function()
        progress.append(ticks - before)
    running = False
    thread.join()
    assert max(progress) > 20 if released else min(progress) < 5


def test_threads_call_and_compile_at_once():
    function = add_one(gil_threshold=-1)
    failures = []

    def work(seed):
        x = np.arange(2.0, 50.0 + seed)
        own = add_one()
        right = sum(np.array_equal(callee(x), x + 1) for _ in range(3000) for callee in (function, own))
        if right != 6000:
            failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # it is what this test is about
# JAX, which another test may have started, and Python 3.12 warn of any fork beside threads.
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning", "ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_while_another_thread_compiles():
    function = add_one()
    running = True

    def compile_on():
        while running:
            compile_module(shapes_text(["m0"]) + program_text(ADD_ONE))

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                good = np.array_equal(function(np.arange(3.0)), [1, 2, 3]) and np.array_equal(
                    add_one()(np.arange(3.0)), [1, 2, 3]
                )
                os._exit(0 if good else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        running = False
        thread.join()


FORKS = """
import os, signal, threading, time
import numpy as np
from itertools import count
from numbagraph import grad, graph_jit

x, a, numbers = np.arange(3.0), 2 * np.eye(3), count(1)
running = True

def model(x, a, number):
    return np.sum(np.exp(x) * number) + np.linalg.cholesky(a)[0, 0] + np.sin(x[0] + number)

shared = graph_jit(model, static_argnames="number", parallel=True)

def compile_on():
    while running:
        shared(x, a, next(numbers))
        graph_jit(grad(lambda x, n=next(numbers): np.sum(np.tanh(x) * n))).address(x)

def good(number):
    own = graph_jit(lambda x: np.log1p(x) @ x + number)
    return np.isclose(shared(x, a, number), model(x, a, number)) and np.isclose(own(x), np.log1p(x) @ x + number)

threads = [threading.Thread(target=compile_on, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for turn in range(8):
    time.sleep(0.01 * turn)
    child = os.fork()
    if child == 0:
        signal.alarm(200)
        os._exit(0 if good(-1 - turn) else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
running = False
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_children_trace_and_compile_while_threads_of_their_parent_do():
    """From the first moment on, when modules are imported and code is loaded that a process has once."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NUMBAGRAPH_CACHE": "0"}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["0"] * 8, "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_who_forks_keeps_its_locks():
    """And finds free what another thread had."""
    own, others, held, leave = new_lock(), new_lock(), threading.Event(), threading.Event()

    def hold():
        with others:
            held.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with own:
        child = os.fork()
    if child == 0:
        os._exit(0 if others.acquire(blocking=False) and own.acquire(blocking=False) else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_all_locks_are_made_for_fork():
    """``functools.cached_property`` of Python 3.11 has one, too."""
    makers = re.compile(
        r"\bthreading\.R?Lock\(|from threading import|"
        r"from functools import .*cached_property|@functools\.cached_property"
    )
    folder = pathlib.Path(numbagraph.__file__).parent
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if makers.search(path.read_text())}
    assert found == {"forking.py", "intrinsics/emitters/target.py"}


def late_imports(tree, *, in_function=False, locked=False):
    """The lines on which functions import something without the lock."""
    in_function |= isinstance(tree, (ast.FunctionDef, ast.Lambda))
    locked |= isinstance(tree, ast.With) and any(ast.unparse(each) == "importing" for each in tree.items)
    if in_function and not locked and isinstance(tree, (ast.Import, ast.ImportFrom)):
        yield tree.lineno
    for each in ast.iter_child_nodes(tree):
        yield from late_imports(each, in_function=in_function, locked=locked)


def test_what_calls_import_takes_the_lock():
    """`importlib` is used by `forking` alone, which takes it."""
    assert list(late_imports(ast.parse("def f():\n    import os\n    with importing:\n        import re"))) == [2]
    folder = pathlib.Path(numbagraph.__file__).parent
    sources = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}
    assert {name: lines for name, text in sources.items() if (lines := list(late_imports(ast.parse(text))))} == {}
    maker = re.compile(r"^import importlib$|from importlib import|__import__", re.MULTILINE)
    assert {name for name, text in sources.items() if maker.search(text)} == {"forking.py"}


def test_interpreter_exits_with_functions_alive():
    command = "import tests.support.native_programs as t, numpy as np; f = t.add_one(); print(f(np.ones(2)))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", command], check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2. 2.]\n", "")


def test_everything_is_freed_with_the_function():
    made = plan(
        NativeSignature((), (vector(),), (), single=False), shapes_text([]), program_text(""), captured=[np.ones(3)]
    )
    library, captured = weakref.ref(made.keepalive), weakref.ref(made.captured[0])
    function = make_callable([made], "native")
    bound = weakref.ref(function.__self__)
    del made
    assert function() == ()
    assert library() is not None
    del function
    assert (library(), captured(), bound()) == (None, None, None)


def calls():
    """A function and arguments for every path on which references are taken."""
    x = np.ones(5)
    two = NativeSignature((vector(),), (), (Result(FLOAT, 1), Result(FLOAT, 0, "scalar")), single=False)
    both = NativeSignature((vector(),), (), (Result(FLOAT, 1), Result(FLOAT, 1)), single=False)
    shapes = shapes_text(["m0"])
    number, scalar = Result(FLOAT, 0, "python"), ArrayLeaf(FLOAT, ())
    return {
        "success": (add_one(), x),
        "refused": (add_one(), [1.0]),
        "guard": (native(two, shapes_text(["m0"], guard=1), program_text("")), x),
        "stopped": (native(two, shapes, program_text("", code=2)), x),
        "exhausted": (native(two, shapes, program_text("", code=OUT_OF_MEMORY)), x),
        "unallocated": (native(both, shapes_text(["m0", 2**52]), program_text("")), x),
        "tuple": (native(two, shapes, program_text("")), x),
        "donated": (donating(), x),
        "shared": (donating([x]), x, x),
        "float": (identity(ScalarLeaf(float), "python"), 1.5),
        "int": (identity(ScalarLeaf(int), "python"), 10**12),
        "huge": (identity(ScalarLeaf(int), "python"), 10**30),
        "bool": (identity(ScalarLeaf(bool), "python"), True),
        "complex": (identity(ScalarLeaf(complex), "python"), 1.5j),
        "scalar": (identity(scalar, "scalar"), np.float64(2.0)),
        "array": (identity(scalar, "array"), np.array(2.0)),
        "nothing": (native(NativeSignature((), (), (number,), single=True), shapes_text([]), program_text("")),),
    }


def call(function, *arguments):
    with contextlib.suppress(MemoryError):
        function(*arguments)


@pytest.mark.repeats(but_each=6)
@pytest.mark.parametrize("path", calls())
def test_no_path_leaks(path):
    function, *arguments = calls()[path]
    watched = (FLOAT, NotImplemented, np.ndarray, True, False, MemoryError)
    call(function, *arguments)
    gc.collect()
    counts = [sys.getrefcount(thing) for thing in watched]
    tracemalloc.start()
    try:
        call(function, *arguments)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5_000):
            call(function, *arguments)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 2_000
    assert all(abs(sys.getrefcount(thing) - count) < 10 for thing, count in zip(watched, counts, strict=True))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no measure of resident memory on this system")
def test_a_million_calls_and_hundreds_of_functions_stay_in_memory():
    function, x = add_one(), np.ones(1000)
    code = compile_module(shapes_text(["m0"]) + program_text(ADD_ONE))
    signature = NativeSignature((vector(),), (), (Result(FLOAT, 1),), single=True)

    def load_and_call():
        library = Library(code, {})
        addresses = {"shapes": library.address("shapes"), "program": library.address("program")}
        made = make_callable([EntryPlan(signature, **addresses, keepalive=library)], "native")
        assert made(x)[0] == 2

    for _ in range(300):
        load_and_call()
    for _ in range(1000):
        function(x)
    before = resident()
    for _ in range(300):
        load_and_call()
    for _ in range(1_000_000):
        function(x)
    assert resident() - before < 3 * 2**20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no measure of resident memory on this system")
def test_compiling_leaves_nothing_behind():
    """llvmlite frees no pass manager, which is 0.1 MB."""
    for _ in range(20):
        compile_module("define i64 @f() {\n ret i64 7\n}")
    before = resident()
    for _ in range(100):
        compile_module("define i64 @f() {\n ret i64 7\n}")
    assert resident() - before < 2 * 2**20


def test_an_unknown_layout_of_objects_is_noticed(monkeypatch):
    class Shifted(ctypes.Structure):
        _fields_ = (("unexpected", ctypes.c_uint64), *objects.DtypeFields._fields_)

    monkeypatch.setattr(objects, "DtypeFields", Shifted)
    with pytest.raises(RuntimeError, match="dtypes"):
        objects.check_layout()


def repeated(length, dtype=float):
    """As many elements as one likes, without memory."""
    return np.broadcast_to(np.ones((), dtype), (length,))


OUTER = numbagraph.vectorize(lambda x, y: x * y)
WIDE, LONG = repeated(2**32), repeated(2**22)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: np.sum(np.cumsum(x[:, None, None] * x[:, None] * x, axis=0)), (LONG,)),
        (lambda x, n: np.sum(np.cumsum(x[0] + xp.eye(n), axis=0)), (np.ones(2), 2**32)),
        (lambda x, n: np.cumsum(xp.full(n * n, x)), (1.0, np.int64(2**31))),
        (lambda x, n: np.sum(xp.full((n, n), x) * 2), (1.0, 2**32)),
        (lambda x: np.cumsum(np.ravel(x[:, None] * x)), (WIDE,)),
        (lambda x: np.outer(x, x), (WIDE,)),
        (lambda x, y: np.cumsum(y[:, None, None] * x[:, None] * x, axis=1).sum(), (WIDE, np.ones(0))),
        (lambda x: np.tile(x, 8), (repeated(2**61, np.int8),)),
        (lambda n: xp.arange(n), (2**62,)),
    ],
    ids=["temporary", "traced lengths", "product", "nest", "ravel", "result", "no elements", "tile", "arange"],
)
def test_sizes_beyond_all_addresses_are_errors(function, arguments):
    f = graph_jit(function)
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"too big|too large(?s:.*)\n  in \w+\n  at {re.escape(__file__)}:\d+"):
            f(*arguments)


BEYOND_MEMORY = repeated(2**25)
PRODUCT = graph_jit(lambda x: x[:, None] * x)


class Product:
    @graph_jit
    def method(self, given):
        return given["x"][:, None] * given["x"]


@pytest.mark.parametrize(
    ("call", "array"),
    [
        (graph_jit(lambda x: np.sum(np.cumsum(x[:, None] * x, axis=0))), r"way .*float64 .*\n  in cumsum"),
        (PRODUCT, r"a result, .*float64 .*\n  in multiply"),
        (graph_jit(lambda x: xp.zeros((x.size, x.size), np.complex64)), r"a result, .*complex64 .*\n  in full"),
        (lambda x: PRODUCT(x, out=np.zeros((3, 3))), r"a result, .*\n  in multiply"),
        (lambda x: Product().method({"x": x}), r"a result, .*\n  in multiply"),
        (lambda x: OUTER(x[:, None], x), r"a result, .*\n  in multiply"),
    ],
    ids=["temporary", "result", "traced length", "out", "method", "ufunc"],
)
def test_sizes_within_addresses_that_no_memory_has(call, array):
    """The largest array and the line are in the error, by whatever way a function is called, also in later calls."""
    for _ in range(2):
        with pytest.raises(MemoryError, match=rf"{array}\n  at {re.escape(__file__)}:\d+") as caught:
            call(BEYOND_MEMORY)
        assert "with shape (33554432, 33554432): " in str(caught.value)


def test_a_call_after_one_that_no_memory_is_for():
    with pytest.raises(MemoryError):
        PRODUCT(BEYOND_MEMORY)
    np.testing.assert_array_equal(PRODUCT(np.arange(3.0)), np.outer(np.arange(3.0), np.arange(3.0)))


def test_memory_errors_of_traced_python_are_left_alone():
    @graph_jit
    def f(x):
        raise MemoryError("of the user")

    for call in (f, graph_jit(lambda x: f(x))):
        with pytest.raises(MemoryError, match=r"^of the user$"):
            call(np.ones(3))


def test_sizes_of_temporaries_in_code_of_numba():
    f = graph_jit(lambda x: np.sum(np.cumsum(x[:, None, None] * x[:, None] * x, axis=0)))
    called = numba.njit(lambda x: f(x))
    assert called(np.ones(2)) == 12
    with pytest.raises(ValueError, match="array is too big"):
        called(LONG)


def test_what_arguments_bound_is_not_looked_at():
    for function in (
        lambda x: np.cumsum(x * 2) + 1,
        lambda x: x[1:] - x[:-1],
        lambda x: np.sum(np.exp(x)[::2], axis=0),
    ):
        assert "with.overflow" not in graph_jit(function).llvm(np.ones(5), optimised=False)


def with_second_rows(x, value):
    x[::2] = value
    return x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: with_second_rows(x[:, np.array([], int), None] * x[:, None], 2.0),
        lambda x: with_second_rows(x[:, None][:, np.array([], int)], 2.0),
        lambda x: np.concatenate([x[1:, :0], x[::2, :0] * 2]),
        lambda x: np.sum(np.cumsum(x[::3, :0] * 2, axis=1)[1:]),
        lambda x: np.sum(with_second_rows(np.zeros((0, 3)) + x[::2, None, :1], 2.0)[1:]),
    ],
    ids=["product", "positions", "joined", "cumulated", "inside"],
)
def test_lengths_beside_one_that_is_known_to_be_0(function):
    """They are in the size of a loop nest, whose estimated work is 0 whatever they are."""
    x = np.arange(15.0).reshape(5, 3)
    expected, found = function(x), graph_jit(function)(x)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.reshape(n, 4)[1000, 0],
        lambda x, n: x.reshape(n, len(x))[1000, 0],
        lambda x, n: x.reshape(2**62 + 1, 4)[1000, 0] * n,
        lambda x, n: x.reshape(n, 4)[:10].sum(),
        lambda x, n: x.reshape(n, -1, 4)[1000, 0, 0],
        lambda x, n: x[:0].reshape(2**32, 2**32)[1000, 0] * n,
        lambda x, n: x[:0].reshape(n - 2**62 + 2**32, 2**32)[0, 0],
        lambda x, n: sum(x.reshape(n + i, 4)[1000, 0] for i in range(3)),
    ],
)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_shapes_whose_lengths_have_a_product_beyond_all_numbers_are_of_no_array(function, backend):
    """The product wraps around to the number of elements that there are, and what is read would lie behind them."""
    x, n = np.arange(4.0), 2**62 + 1
    with pytest.raises(ValueError, match=r"cannot reshape array|array is too big"):
        function(x, n)
    with pytest.raises(numbagraph.ShapeError, match="cannot reshape array"):
        graph_jit(function, backend=backend)(x, n)


def test_sizes_beyond_63_bits_are_errors():
    """Of what is never computed, too: NumPy makes no such array."""
    size = graph_jit(lambda x: np.broadcast_to(x[:, None], (x.shape[0], 2**61)).size)
    assert [size(np.zeros(n)) for n in (3, 0, 1)] == [3 * 2**61, 0, 2**61]
    for n in (4, 8, 2**20):
        with pytest.raises(ValueError, match="array is too big"):
            size(np.zeros(n))
    with pytest.raises(ValueError, match="array is too big"):
        graph_jit(lambda x: np.broadcast_to(x, (2**32, 2**32)).size)(np.zeros(1))
