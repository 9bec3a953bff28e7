"""Names under which pickles and programs of before know things."""

import importlib
import pickle

import pytest

import numbagraph
from numbagraph import graph_jit

NAMES = [
    ("bound_methods", "_no_methods"),
    ("gufunc", "GUFunc"),
    ("gufunc", "_rebuild"),
    ("jit", "GraphFunction"),
    ("jit", "_rebuild"),
    ("op_function", "OpFunction"),
    ("pickled", "Pickled"),
    ("shapes", "ShapeError"),
    ("tracing", "TraceError"),
]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_are_where_they_were(module, name):
    path = f"numbagraph.{module}"
    assert pickle.loads(f"c{path}\n{name}\n.".encode()) is getattr(importlib.import_module(path), name)
    assert callable(numbagraph.gufunc), "the module stands in place of the function"


@graph_jit
def doubled(x):
    return 2 * x


def test_a_pickle_of_before():
    """As version 0.1 wrote it, by names alone."""
    given = pickle.dumps(doubled, protocol=0).replace(b"numbagraph.frontend.", b"numbagraph.")
    assert b"cnumbagraph.jit\n_rebuild" in given
    assert pickle.loads(given)(3) == 6
