"""Docstrings of all that is public: complete as numpydoc has it, and about what there is."""

from __future__ import annotations

import ast
import inspect
import pydoc
import re
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import numbagraph
from numbagraph.library.namespaces import Function

NOTHING = ("None", None, "Iterator[None]", "AbstractContextManager[None]")
"""What is returned where nothing is said of it: the last two are context managers."""
INTERNAL = {"embed"}
"""Methods that other modules call."""
FUNCTIONS = [numbagraph.random]
"""Modules of functions that are written here."""
NAMESPACES = [numbagraph.fft, numbagraph.linalg, numbagraph.numpy, numbagraph.special]
CLASSES = [
    numbagraph.GUFunc,
    numbagraph.GraphFunction,
    numbagraph.SharedContext,
    numbagraph.SharedVariable,
    numbagraph.Abstract,
    numbagraph.custom_vjp,
]


def public() -> Iterator[Any]:
    for name in numbagraph.__all__:
        found = getattr(numbagraph, name)
        is_error = isinstance(found, type) and issubclass(found, Exception)
        if not isinstance(found, (str, ModuleType)) and not is_error:
            yield pytest.param(found, id=name)
    for module in FUNCTIONS:
        for name in dir(module):
            yield pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for owner in CLASSES:
        for name, found in vars(owner).items():
            if not name.startswith("_") and inspect.isfunction(found) and not found.__name__.startswith("_"):
                yield pytest.param(found, id=f"{owner.__name__}.{name}")
    for base in numbagraph.GraphFunction.__mro__[1:-1]:
        for name, found in vars(base).items():
            if not name.startswith("_") and inspect.isfunction(found) and name not in INTERNAL:
                yield pytest.param(found, id=f"GraphFunction.{name}")


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(text: str) -> list[str]:
    """The names of a section of parameters."""
    lines = re.findall(r"^(\*{0,2}\w[^\n:]*?)(?: :.*)?$", text, flags=re.MULTILINE)
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


def raised(function: Callable[..., Any]) -> set[str]:
    """The errors that the function itself raises by name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    calls = (each.exc for each in ast.walk(tree) if isinstance(each, ast.Raise))
    return {each.func.id for each in calls if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}


@pytest.mark.parametrize("function", list(public()))
def test_a_docstring_is_complete(function: Any) -> None:
    text = inspect.getdoc(function) or ""
    assert text
    assert text.splitlines()[0].endswith((".", ":"))
    found = sections(text)
    own = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    assert documented(found.get("Parameters", "")) == [each.name for each in own]
    if not isinstance(function, type):
        returns = inspect.signature(function).return_annotation
        assert ("Returns" in found) == (returns not in NOTHING), returns
    assert ">>> " in found.get("Examples", "")
    source = function if not isinstance(function, type) else vars(function).get("__init__")
    if source is not None and function is not numbagraph.Abstract:  # a dataclass, whose __init__ has no source
        errors = {name for name in raised(source) if name.endswith("Error")}
        assert errors <= set(documented(found.get("Raises", ""))), errors


@pytest.mark.parametrize("module", NAMESPACES, ids=lambda module: module.__name__)
def test_a_namespace_lists_what_it_has(module: ModuleType) -> None:
    names = dir(module)
    assert names == sorted(set(names))
    assert not [name for name in names if name.startswith("_")]
    for name in names:
        found = getattr(module, name)
        if isinstance(found, Function):
            assert getattr(module, name) is found
            assert found.__name__ == name
            assert f"Op `{found.op.name}`" in pydoc.render_doc(found)
            assert "numbagraph's own" in found.__doc__ or len(found.__doc__.splitlines()) > 6, (
                "the library's is missing"
            )
    assert not hasattr(module, "nothing_of_this_name")


def test_the_package_lists_what_is_public() -> None:
    assert dir(numbagraph) == sorted(numbagraph.__all__)
    assert numbagraph.jax_bridge.__name__ == "numbagraph.jax_bridge"


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        (numbagraph.linalg, "choleski", "did you mean 'cholesky'?"),
        (numbagraph.special, "digama", "did you mean 'digamma'?"),
        (numbagraph.fft, "rftt", "did you mean 'rfft'?"),
        (numbagraph.numpy, "arrange", "did you mean 'arange'?"),
        (numbagraph, "value_and_gard", "did you mean 'value_and_grad'?"),
        (numbagraph, "nothing", "has no attribute 'nothing'"),
        (numbagraph.linalg, "sin", "dir(numbagraph.linalg) lists"),
    ],
)
def test_a_misspelt_name(module: ModuleType, name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert advice in str(caught.value)
