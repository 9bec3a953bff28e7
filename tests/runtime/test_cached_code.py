"""Which directory compiled code is kept in, and that only code which fits is run."""

import os
import subprocess
import sys

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.runtime import cache as module
from numbagraph.runtime import entry, math_library
from numbagraph.runtime.cache import CacheWarning, DiskCache, default_cache
from numbagraph.runtime.compile import compile_module


def test_default_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    here = default_cache()
    assert here is not None
    assert here.directory == tmp_path / "here"
    assert default_cache() is here
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path / "there"))
    there = default_cache()
    assert there is not None
    assert there.directory == tmp_path / "there"
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    assert default_cache() is None
    monkeypatch.delenv("NUMBAGRAPH_CACHE")
    monkeypatch.delenv("NUMBAGRAPH_CACHE_DIR")
    usual = default_cache()
    assert usual is not None
    assert "numbagraph" in str(usual.directory)


def nowhere(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize(
    "usual", [nowhere(RuntimeError("no home")), nowhere(KeyError("uid not found")), lambda *_, **__: "~/.cache/x"]
)
def test_users_without_a_home_directory_have_no_cache(monkeypatch, usual):
    monkeypatch.delenv("NUMBAGRAPH_CACHE_DIR")
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    monkeypatch.setattr(module.platformdirs, "user_cache_dir", usual)
    module._warn_of_no_directory.cache_clear()
    with pytest.warns(CacheWarning, match="set NUMBAGRAPH_CACHE_DIR"):
        assert default_cache() is None
    assert graph_jit(lambda x: x + 1.625)(1.0) == 2.625  # without a second warning


def test_a_relative_directory_is_where_it_was_first_asked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", "relative-in-this-test")
    monkeypatch.chdir(tmp_path)
    assert default_cache().directory == tmp_path / "relative-in-this-test"
    monkeypatch.chdir("/")
    assert default_cache().directory == tmp_path / "relative-in-this-test"


# ---- code that is whole, but of no use ----

NOTHING = "define void @nothing() { ret void }"
INCOMPLETE = """
declare void @nobody_has_this()
define i32 @f.shapes(ptr %a, ptr %b) { call void @nobody_has_this() ret i32 0 }
define i32 @f.program(ptr %a) { call void @nobody_has_this() ret i32 0 }
define ptr @entry(ptr %a, ptr %b, i64 %c) { call void @nobody_has_this() ret ptr null }
"""


@pytest.mark.parametrize(
    "forge",
    [
        lambda: b"",
        lambda: b"nonsense",
        lambda: b"[]\nnonsense",
        lambda: b"{}\n" + compile_module(NOTHING),
        lambda: b"[1]\n" + compile_module(NOTHING),
        lambda: b'["exit"]\n' + compile_module(NOTHING),
        lambda: b'["numbagraph.math.none", "numbagraph.blas.none"]\n' + compile_module(NOTHING),
        lambda: b"[]\n" + compile_module(NOTHING),
        lambda: b"[]\n" + compile_module(INCOMPLETE),
        lambda: compile_module(INCOMPLETE),
    ],
)
def test_code_that_does_not_link_is_made_anew(tmp_path, monkeypatch, forge):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    for shelf in (math_library.core_ops, math_library.math_functions):
        monkeypatch.setattr(shelf, "by_target", {})
    forged = forge()
    monkeypatch.setattr(DiskCache, "_read", lambda *_: forged)
    entry._entry.cache_clear()

    def f(x, a):
        return np.exp(x[0]), np.linalg.cholesky(a)

    compiled, x, a = graph_jit(f), np.ones(2), 2 * np.eye(3)
    with pytest.warns(CacheWarning, match="cannot be used; it is replaced") as caught:
        found = compiled(x, a)
    assert len(caught) == 1
    assert found[0] == pytest.approx(np.e, rel=1e-15)
    np.testing.assert_allclose(found[1], np.linalg.cholesky(a), rtol=1e-15)
    assert compiled.cache_info().compiled == 1
    monkeypatch.undo()
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    again = graph_jit(f)
    again(x, a)
    assert again.cache_info().found == 1


def test_the_entry_is_compiled_once_a_machine(tmp_path):
    command = "\n".join(
        [
            "import numbagraph.runtime.entry as entry",
            "import numbagraph.runtime.native_modules as handwritten",
            "calls = []",
            "compile_module = handwritten.compile_module",
            "handwritten.compile_module = lambda *a, **k: calls.append(1) or compile_module(*a, **k)",
            "assert entry.make_callable([], 'f')() is NotImplemented",
            "print(len(calls))",
        ]
    )
    environment = os.environ | {"NUMBAGRAPH_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("NUMBAGRAPH_CACHE", None)

    def compilations():
        done = subprocess.run(
            [sys.executable, "-W", "error::UserWarning", "-c", command],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        return int(done.stdout)

    assert [compilations(), compilations()] == [1, 0]
    (stored,) = tmp_path.glob("*.bin")
    stored.write_bytes(stored.read_bytes()[:-1])
    environment["PYTHONWARNINGS"] = "ignore"
    assert (
        subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, env=environment).stdout
        == b"1\n"
    )
    assert compilations() == 0
