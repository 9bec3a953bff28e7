"""Programs that read the world around them, for all kinds of places and of values; compared with plain Python."""

from __future__ import annotations

import linecache
import types
from typing import Any

import numpy as np

from numbagraph import graph_jit

X = np.array([1.0, -2.0, 3.0])


def with_constant(function: types.FunctionType, value: Any) -> None:
    """Give a function other code, whose last constant is a value."""
    code = function.__code__
    function.__code__ = code.replace(co_consts=(*code.co_consts[:-1], value))


PLACES = {
    "global": ("def f(x): return use(x, K)", lambda space, value: space.__setitem__("K", value)),
    "global of a helper": (
        "def helper(x): return use(x, K)\ndef f(x): return helper(x)",
        lambda space, value: space.__setitem__("K", value),
    ),
    "global of a compiled helper": (
        "helper = graph_jit(lambda x: use(x, K), backend='numpy')\ndef f(x): return helper(x)",
        lambda space, value: space.__setitem__("K", value),
    ),
    "cell": (
        """
def make():
    k = K
    def change(new):
        nonlocal k
        k = new
    return (lambda x: use(x, k)), change
f, change = make()
""",
        lambda space, value: space["change"](value),
    ),
    "attribute of self": (
        "class Model:\n    def run(self, x): return use(x, self.k)\nmodel = Model()\nmodel.k = K\nf = model.run",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "deep attribute": (
        "model = Space(part=Space(k=K))\ndef f(x): return use(x, model.part.k)",
        lambda space, value: setattr(space["model"].part, "k", value),
    ),
    "object in between": (
        "model = Space(part=Space(k=K))\ndef f(x): return use(x, model.part.k)",
        lambda space, value: setattr(space["model"], "part", types.SimpleNamespace(k=value)),
    ),
    "slot": (
        "class Model:\n    __slots__ = ('k',)\nmodel = Model()\nmodel.k = K\ndef f(x): return use(x, model.k)",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "class attribute": (
        "class Base: k = K\nclass Model(Base): pass\nmodel = Model()\ndef f(x): return use(x, model.k)",
        lambda space, value: setattr(space["Base"], "k", value),
    ),
    "attribute before that of the class": (
        "class Model: k = K\nmodel = Model()\ndef f(x): return use(x, model.k)",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "property": (
        """
class Model:
    @property
    def read(self): return self.k
model = Model()
model.k = K
def f(x): return use(x, model.read)
""",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "module": (
        "settings = Module('settings')\nsettings.k = K\ndef f(x): return use(x, settings.k)",
        lambda space, value: setattr(space["settings"], "k", value),
    ),
    "entry of a dict": (
        "settings = {'k': K}\ndef f(x): return use(x, settings['k'])",
        lambda space, value: space["settings"].__setitem__("k", value),
    ),
    "entry of a dict under a name": (
        "settings, key = {'k': K}, 'k'\ndef f(x): return use(x, settings[key])",
        lambda space, value: space["settings"].__setitem__("k", value),
    ),
    "element of a list": (
        "values = [K]\ndef f(x): return use(x, [each for each in values][0])",
        lambda space, value: space["values"].__setitem__(0, value),
    ),
    "deep element": (
        "model = Space(parts={'one': ([K],)})\ndef f(x): return use(x, model.parts['one'][0][0])",
        lambda space, value: space["model"].parts["one"][0].__setitem__(0, value),
    ),
    "attribute of an element": (
        "parts = [Space(k=K)]\ndef f(x):\n    for each in parts: x = use(x, each.k)\n    return x",
        lambda space, value: setattr(space["parts"][0], "k", value),
    ),
    "element with an attribute": (
        "parts = [Space(k=K)]\ndef f(x):\n    for each in parts: x = use(x, each.k)\n    return x",
        lambda space, value: space["parts"].__setitem__(0, types.SimpleNamespace(k=value)),
    ),
    "attribute by a text": (
        "model, names = Space(k=K), ['k']\ndef f(x): return use(x, getattr(model, names[0]))",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "attribute of a static argument": (
        """
model = Space(k=K)
options, more = {'static_argnames': 'c'}, (Key(model),)
def f(x, c): return use(x, c.model.k)
""",
        lambda space, value: setattr(space["model"], "k", value),
    ),
    "default": (
        "def helper(x, k=K): return use(x, k)\ndef f(x): return helper(x)",
        lambda space, value: setattr(space["helper"], "__defaults__", (value,)),
    ),
    "default of the function itself": (
        "def f(x, k=K): return use(x, k)",
        lambda space, value: setattr(space["f"], "__defaults__", (value,)),
    ),
    "default of a keyword": (
        "def helper(x, *, k=K): return use(x, k)\ndef f(x): return helper(x)",
        lambda space, value: space["helper"].__kwdefaults__.__setitem__("k", value),
    ),
    "element of a default": (
        "def f(x, values=[K]): return use(x, values[0])",
        lambda space, value: space["f"].__defaults__[0].__setitem__(0, value),
    ),
    "constant in the code": (
        "def helper(x): return use(x, 12345)\nwith_constant(helper, K)\ndef f(x): return helper(x)",
        lambda space, value: with_constant(space["helper"], value),
    ),
}
"""How a function reads ``K``, and how something else is bound there."""


class Key:
    """Something static that holds an object."""

    def __init__(self, model: Any) -> None:
        self.model = model


class Equal:
    """Equal to all others of its kind, and to numbers."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return x * self.k


VALUES: dict[str, tuple[Any, Any]] = {
    "numbers": (2.0, 3.0),
    "kinds of numbers": (2, 2.0),
    "signs of zero": (0.0, -0.0),
    "numbers of NumPy": (np.float32(2), np.float64(2)),
    "functions": (np.abs, np.negative),
    "equal objects": (Equal(2.0), Equal(3.0)),
}


def use(x: Any, value: Any) -> Any:
    """What tells apart numbers by their kind and the sign of zero."""
    return (value(x),) if callable(value) else (np.copysign(x, value), x.astype(np.int8) * value)


def check_rebinding(place: str, values: str, backend: str = "numpy") -> None:
    """Compare a compiled function with plain Python while what it reads is bound to a value, another, and the first."""
    program, bind = PLACES[place]
    one, other = VALUES[values]
    given: dict[str, Any] = {"use": use, "Module": types.ModuleType, "Space": types.SimpleNamespace, "Key": Key}
    given.update(K=one, with_constant=with_constant, options={}, more=())
    plain = {**given, "graph_jit": lambda function, **_: function, "__name__": "program"}
    space = {**given, "graph_jit": graph_jit, "__name__": "program"}
    file = f"<{place}>"
    linecache.cache[file] = len(program), None, program.splitlines(keepends=True), file
    for each in (plain, space):
        exec(compile(program, file, "exec"), each)
    compiled = graph_jit(space["f"], backend=backend, **space["options"])
    for number, value in enumerate((one, one, other, other, one)):
        if number:
            bind(plain, value)
            bind(space, value)
        for wanted, found in zip(plain["f"](X, *plain["more"]), compiled(X, *space["more"]), strict=True):
            same = wanted.dtype == found.dtype and wanted.tobytes() == found.tobytes()
            assert same, f"{place}, {values}, after {number} rebindings: {wanted} expected, found {found}"
