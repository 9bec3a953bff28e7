"""Programs that read the world around them, for all kinds of places and of values; compared with plain Python."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from numbagraph import graph_jit

X = np.array([1.0, -2.0, 3.0])

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
}
"""How a function reads ``K``, and how something else is bound there."""


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
    given: dict[str, Any] = {"use": use, "Module": types.ModuleType, "Space": types.SimpleNamespace, "K": one}
    plain = {**given, "graph_jit": lambda function, **_: function, "__name__": "program"}
    space = {**given, "graph_jit": graph_jit, "__name__": "program"}
    for each in (plain, space):
        exec(compile(program, __file__, "exec"), each)
    compiled = graph_jit(space["f"], backend=backend)
    for number, value in enumerate((one, one, other, other, one)):
        if number:
            bind(plain, value)
            bind(space, value)
        for wanted, found in zip(plain["f"](X), compiled(X), strict=True):
            same = wanted.dtype == found.dtype and wanted.tobytes() == found.tobytes()
            assert same, f"{place}, {values}, after {number} rebindings: {wanted} expected, found {found}"
