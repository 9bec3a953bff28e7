"""What notebooks show of functions, graphs and explanations: HTML that is whole, and holds what the text holds."""

from __future__ import annotations

import numpy as np
import pytest

from numbagraph import grad, graph_jit
from tests.support.html import Reader


@graph_jit
def smoothed(x, weight):
    return np.cumsum(x[x.argsort()]) * weight


X = np.linspace(0, 2, 50)


def test_a_function():
    smoothed.cache_clear()
    assert "no version yet" in Reader(smoothed._repr_html_()).text
    smoothed(X, 2.0)
    smoothed.warmup(X.astype(np.float32), 2.0)
    found = Reader(smoothed._repr_html_())
    assert "smoothed" in found.text
    assert "float64[" in found.text
    assert "float32[" in found.text
    assert "table" in found.tags


def test_a_name_that_looks_like_a_tag():
    assert "<lambda>" in Reader(graph_jit(lambda x: x)._repr_html_()).text


@pytest.mark.parametrize("stage", [0, -1])
def test_a_graph(stage):
    graph = list(smoothed.stages(X, 2.0).values())[stage]
    assert Reader(graph._repr_html_()).text == str(graph)


def test_an_explanation():
    text = smoothed.explain(X, 2.0)
    assert isinstance(text, str)
    assert repr(text) == str(text)
    found = Reader(text._repr_html_())
    assert found.text == text
    assert "span" in found.tags
    assert "script" not in found.tags


def test_transformed_functions_are_looked_into():
    gradient = grad(lambda x: np.sum(x**2))
    np.testing.assert_array_equal(gradient(X), 2 * X)
    assert "nest 1" in gradient.explain(X)
    assert gradient.cache_info().versions == 1
    gradient.cache_clear()
    assert gradient.cache_info().versions == 0
    assert "2" in str(gradient.graph(X))
