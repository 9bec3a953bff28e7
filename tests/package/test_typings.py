"""The stubs in ``typings`` say what llvmlite has: its names, and the parameters of its functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llvmlite import ir

STUB = Path(__file__).parents[2] / "typings" / "llvmlite" / "ir.pyi"
TREE = ast.parse(STUB.read_text())
CLASSES = [each for each in TREE.body if isinstance(each, ast.ClassDef) and not each.name.startswith("_")]


def parameters(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """The name of each parameter, and whether it may be left out."""
    given = function.args.args
    required = len(given) - len(function.args.defaults)
    return [(each.arg, number >= required) for number, each in enumerate(given)]


def real_parameters(function: Callable[..., object]) -> list[tuple[str, bool]]:
    found = inspect.signature(function, follow_wrapped=False)  # llvmlite's decorators add parameters
    if any(each.kind is each.VAR_POSITIONAL for each in found.parameters.values()):  # those of contextlib do not
        found = inspect.signature(function)
    return [(each.name, each.default is not each.empty) for each in found.parameters.values()]


def methods(class_: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (each for each in class_.body if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("class_", CLASSES, ids=lambda class_: class_.name)
def test_a_class_is_as_declared(class_: ast.ClassDef) -> None:
    found = getattr(ir, class_.name)
    bases = {each.id for each in class_.bases if isinstance(each, ast.Name) and not each.id.startswith("_")}
    assert bases <= {each.__name__ for each in found.__mro__}
    for method in methods(class_):
        own = getattr(found, method.name)
        if isinstance(own, property):
            assert [each.id for each in method.decorator_list if isinstance(each, ast.Name)] == ["property"]
            continue
        declared, real = parameters(method), real_parameters(own)
        if method.name == "__init__" and own is object.__init__:
            declared, real = declared[1:], real_parameters(found)
        assert declared == real[: len(declared)], method.name
        assert all(optional for _, optional in real[len(declared) :]), method.name
