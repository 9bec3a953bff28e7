"""`dir`, and so completion, shows of what users hold what is public."""

import numpy as np
import pytest

import numbagraph as ng


def total(x):
    return np.sum(np.sin(x))


def objects():
    f = ng.graph_jit(total)
    f(np.ones(3))
    count = ng.shared(0)
    return {
        "compiled function": f,
        "gradient": ng.grad(total),
        "batched function": ng.vmap(total),
        "function with a rule": ng.custom_vjp(total),
        "gufunc": ng.gufunc("(n)->()")(total),
        "shared variable": count,
        "context": ng.SharedContext({count: 1}),
        "graph": f.graph(np.ones(3)),
        "stage": f.stages(np.ones(3))["specialise"],
        "explanation": f.explain(np.ones(3)),
        "profile": ng.profile(f, np.ones(3)),
        "abstract array": ng.Abstract((3,)),
    }


OBJECTS = objects()


def hidden(names):
    return [each for each in names if each.startswith("_") and each not in dir(object)]


@pytest.mark.parametrize("name", OBJECTS)
def test_names_are_public(name):
    thing = OBJECTS[name]
    names = dir(thing)
    assert names == sorted(set(names))
    assert hidden(names) == []
    public = {each for kind in type(thing).__mro__ for each in vars(kind) if not each.startswith("_")}
    assert public <= set(names)
    assert all(hasattr(thing, each) for each in names if not each.startswith("_"))


def test_what_a_compiled_function_offers():
    names = set(dir(OBJECTS["compiled function"]))
    assert {"explain", "graph", "stages", "llvm", "asm", "warmup", "cache_info", "cache_clear", "address"} <= names
    assert "__call__" not in names or callable(OBJECTS["compiled function"])
