"""Regions that several results of a loop hold are transformed once."""

import numbagraph as ng
from numbagraph.rewrite.substitutions import with_regions


def nested(depth):
    def body(state):
        a, b, c = state
        if depth:
            a, b, c = ng.while_loop(lambda s: s[0] < 3.0, nested(depth - 1), (a, b, c))
        return a + 1.0, b * c, c + a

    return body


def test_each_region_is_transformed_once_in_loops_of_several_results():
    depth = 5
    graph = ng.graph_jit(lambda x: ng.while_loop(lambda s: s[0] < 3.0, nested(depth), (x, x, x))).graph(1.0)
    found = []

    def function(values):
        found.append(len(values))
        return with_regions(values, function)

    with_regions(graph.outputs, function)
    assert len(found) == 2 * (depth + 1)  # a condition and a body each
