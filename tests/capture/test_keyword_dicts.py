"""The dict of keyword arguments, which each call has for itself, in loops and branches."""

import numpy as np

from numbagraph import graph_jit


def product_of(**numbers):
    """Change the dict of keyword arguments."""
    count = numbers.pop("count")
    numbers["count"] = count + 1
    numbers.setdefault("start", 3.0)
    return numbers["count"] * numbers["x"] + numbers["start"]


def test_keyword_arguments_are_a_dict_of_each_call():
    def function(x):
        if x > 0:
            y = product_of(count=2, x=x)
        else:
            y = product_of(count=3, x=x, start=1.0)
        while y < 50.0:
            y = y + product_of(count=1, x=x)
        return y

    for x in (2.0, 0.5, -0.001):
        np.testing.assert_allclose(graph_jit(function)(x), function(x))
