"""Code is found again where all is as it was, and nowhere else: other versions and processors share no entry."""

import sys

import llvmlite
import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import emitting_for, host, llvm
from numbagraph.ir.structs import replace
from numbagraph.runtime import entry, math_library, specialise

X = np.arange(1.0, 4.0)


def function(x):
    return np.sum(np.exp(x) * 2)


def keys():
    """The keys of a program, of a function that programs call, and of the native entry."""
    special, _ = graph_jit(function)._introspection.program((X,), {})
    return special.key, math_library.key_of("exp float64"), entry._cache_key("source")


def release(monkeypatch):
    monkeypatch.setattr(specialise, "__version__", "0.0.0")
    monkeypatch.setattr(math_library, "__version__", "0.0.0")


def checkout(monkeypatch):
    monkeypatch.setattr(specialise, "sources", lambda: "changed")
    monkeypatch.setattr(math_library, "sources", lambda: "changed")


ALL, GENERATED, PROGRAM = (True, True, True), (True, True, False), (True, False, False)


@pytest.mark.parametrize(
    ("change", "differ"),
    [
        (release, GENERATED),  # the entry's key has its source
        (checkout, GENERATED),
        (lambda patch: patch.setattr(np, "__version__", "2.0.0"), PROGRAM),  # which computes constants
        (lambda patch: patch.setattr(llvmlite, "__version__", "0.1.0"), ALL),
        (lambda patch: patch.setattr(llvm(), "llvm_version_info", (1, 0, 0)), ALL),
        (lambda patch: patch.setattr(sys.implementation, "cache_tag", "cpython-399"), ALL),
        (lambda patch: patch.setattr(sys, "abiflags", "t", raising=False), ALL),
    ],
    ids=["release", "checkout", "numpy", "llvmlite", "llvm", "python", "build of python"],
)
def test_other_versions_have_other_keys(monkeypatch, change, differ):
    before = keys()
    assert keys() == before
    change(monkeypatch)
    assert tuple(one != other for one, other in zip(keys(), before, strict=True)) == differ
    monkeypatch.undo()
    assert keys() == before


@pytest.mark.parametrize(
    "other",
    [
        lambda target: replace(target, processor="another"),
        lambda target: replace(target, features=",".join(target.features.split(",")[:-1])),
        lambda target: replace(target, features=f"{target.features},+nothing"),
        lambda target: replace(target, triple="aarch64-unknown-linux-gnu"),
    ],
    ids=["processor", "fewer features", "more features", "triple"],
)
def test_other_processors_have_other_keys(other):
    before = keys()
    with emitting_for(other(host())):
        assert all(one != another for one, another in zip(keys(), before, strict=True))
    assert keys() == before


@pytest.mark.skipif(not host().has("avx2"), reason="this processor has nothing to do without")
def test_a_processor_of_the_same_name_with_other_features_shares_no_code(tmp_path, monkeypatch):
    """As a virtual machine makes one."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)

    def found():
        compiled = graph_jit(function)
        assert compiled(X) == pytest.approx(function(X), rel=1e-14)
        return compiled.cache_info().found

    lesser = replace(host(), features=host().features.replace("+avx512", "-avx512").replace("+avx2", "-avx2"))
    assert [found(), found()] == [0, 1]
    with emitting_for(lesser):
        assert [found(), found()] == [0, 1]
    assert found() == 1
