"""LLVM IR text to object code, and object code to memory."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from numbagraph.runtime.compile import (
    CompileError,
    Library,
    LinkError,
    assembly,
    compile_module,
    optimised_ir,
    target_fingerprint,
)
from tests.support.native_programs import ADD_ONE, program_text


def test_library_binds_symbols_that_were_not_known_when_compiling():
    code = compile_module(
        "declare i64 @outside(i64)\ndefine i64 @f(i64 %x) {\n %y = call i64 @outside(i64 %x)\n ret i64 %y\n}"
    )
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    double, negate = kind(lambda x: 2 * x), kind(lambda x: -x)
    libraries = [Library(code, {"outside": ctypes.cast(f, ctypes.c_void_p).value}) for f in (double, negate)]
    assert [kind(library.address("f"))(21) for library in libraries] == [42, -21]


def test_libm_and_libc_are_found_in_the_process():
    library = Library(
        compile_module(
            "declare double @exp(double)\ndefine double @f() {\n %y = call double @exp(double 1.0)\n ret double %y\n}",
            opt=0,
        ),
        {},
    )
    assert ctypes.CFUNCTYPE(ctypes.c_double)(library.address("f"))() == np.exp(1.0)


def test_unresolved_symbol_is_a_python_error(capfd):
    code = compile_module(
        "declare void @nowhere_to_be_found()\ndefine void @f() {\n call void @nowhere_to_be_found()\n ret void\n}"
    )
    with pytest.raises(LinkError, match="'f'"):
        Library(code, {}).address("f")
    with pytest.raises(LinkError, match="'g'"):
        Library(compile_module("define void @f() {\n ret void\n}"), {}).address("g")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("code", [b"", b"not object code", b"\x7fELF" + bytes(100)])
def test_damaged_object_code_is_a_python_error(code):
    with pytest.raises(LinkError):
        Library(code, {}).address("f")


@pytest.mark.parametrize(
    "text",
    [
        "define nonsense",
        "define i32 @f() {\n ret i64 0\n}",
        "define i32 @f() {\n %x = add i32 %y, 1\n %y = add i32 %x, 1\n ret i32 %y\n}",
    ],
)
def test_refused_modules_are_compile_errors(text):
    with pytest.raises(CompileError):
        compile_module(text)


def test_loops_are_vectorised():
    text = program_text(ADD_ONE)
    assert "x double>" in optimised_ir(text)
    assert "x double>" not in optimised_ir(text, opt=0)
    assert "program" in assembly(text)


def executable_pages():
    """The ranges of addresses that may be executed."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("no list of memory mappings on this system")
    with open("/proc/self/maps") as lines:
        fields = [line.split() for line in lines]
    return [[int(end, 16) for end in line[0].split("-")] for line in fields if "x" in line[1]]


def test_threads_that_ask_for_an_address_at_the_same_time():
    """A second look-up of one name would free the code that the first one found."""
    library = Library(compile_module(program_text(ADD_ONE)), {})
    looked_up, look_up = [], library._look_up

    def slowly(name):
        looked_up.append(name)
        time.sleep(0.02)
        return look_up(name)

    library._look_up = slowly
    threads = [threading.Thread(target=library.address, args=("program",)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert looked_up == ["program"]


def test_many_libraries_are_loaded_and_freed():
    code = compile_module("define i64 @f() {\n ret i64 7\n}")
    function = ctypes.CFUNCTYPE(ctypes.c_int64)
    libraries = [Library(code, {}) for _ in range(1500)]
    addresses = {library.address("f") for library in libraries}
    assert len(addresses) == 1500
    assert all(function(library.address("f"))() == 7 for library in libraries)
    alive = weakref.ref(libraries[0])
    libraries.clear()
    gc.collect()
    assert alive() is None
    pages = executable_pages()
    assert not any(start <= address < end for address in addresses for start, end in pages)


def test_fingerprint_names_the_machine_and_the_versions():
    fingerprint = target_fingerprint()
    assert sys.implementation.cache_tag in fingerprint
    assert fingerprint == target_fingerprint()


def test_numba_is_not_imported():
    command = "import sys, numbagraph.runtime.entry as e; e._entry(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "error", "-c", command], check=False).returncode == 0


def test_llvm_is_loaded_when_something_is_compiled():
    command = "import sys, numbagraph, llvmlite; sys.exit('llvmlite.binding' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "error", "-c", command], check=False).returncode == 0


FOUND_BY_THREADS = """
import sys, threading
import numpy as np
import numbagraph
from numbagraph.ir.op import registry

functions = [np.median, np.cov, np.interp, np.histogram, np.polyval, np.isin, np.choose, np.partition, np.fft.rfft]
start, missed = threading.Barrier(8), []

def look(first):
    start.wait()
    for function in functions[first:] + functions[:first]:
        if registry.find(function) is None:
            missed.append(function.__name__)

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=look, args=(number,)) for number in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(*missed)
"""


def test_threads_find_what_is_imported_later():
    call = [sys.executable, "-W", "error", "-c", FOUND_BY_THREADS]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_what_is_used_later_is_imported_then():
    """The passes take 16 ms, ``numpy.random`` 8 ms: a function that is found on disk needs neither."""
    later = ("numbagraph.loops", "numbagraph.emit.program", "numbagraph.rewrite.pipeline")
    later += (
        "numbagraph.explain.printing",
        "numbagraph.explain.report",
        "numpy.random",
        "fractions",
        "numba",
        "jax",
        "scipy",
    )
    command = f"import sys, numbagraph; print(*{{*{later}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-W", "error", "-c", command], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


LINEAR_ALGEBRA = """
import sys
import numpy as np
from numbagraph import graph_jit

a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 4.0])
functions = [np.linalg.solve, np.dot, lambda a, b: np.linalg.cholesky(a) @ b, lambda a, b: np.linalg.svd(a)[1]]
found = [graph_jit(each)(a, b) for each in functions]
assert all(np.allclose(each(a, b), one) for each, one in zip(functions, found, strict=True))
assert "scipy.linalg" not in sys.modules

import scipy.linalg
from scipy.linalg import cython_blas

assert np.allclose(scipy.linalg.solve(a, b), found[0])
assert scipy.linalg.blas.ddot(b, b) == 25
assert "dgemm" in cython_blas.__pyx_capi__
assert np.allclose(graph_jit(lambda a, b: np.linalg.solve(a, b) + 1)(a, b), found[0] + 1)
"""


def test_blas_and_lapack_are_found_without_their_package(tmp_path):
    """`scipy.linalg` takes 0.4 s to import; it is imported afterwards as usual."""
    environment = {**os.environ, "NUMBAGRAPH_CACHE_DIR": str(tmp_path)}
    call = [sys.executable, "-W", "error", "-c", LINEAR_ALGEBRA]
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
