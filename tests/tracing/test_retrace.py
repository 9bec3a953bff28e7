"""The table of reasons for which something is traced again is that of the code: who raises each, and who retries."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import numbagraph
from numbagraph.tracing import retrace

SOURCE = Path(numbagraph.__file__).parent
ROWS = dict(re.findall(r"^`(\w+)` +`([\w.]+)`", inspect.getdoc(retrace), re.MULTILINE))
REASONS = [
    name
    for name, each in vars(retrace).items()
    if isinstance(each, type) and issubclass(each, retrace.Retrace) and each is not retrace.Retrace
]
BY_WHAT_THEY_LEAVE = {"KeysNeeded", "WiderElements"}
"""Who retries them catches all exceptions, and looks whether the types of elements have become wider."""


def names_in(nodes):
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def handled(path):
    """The exceptions that a module catches, or tells apart once it has caught them."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    handlers = [each.type for each in nodes if isinstance(each, ast.ExceptHandler) and each.type is not None]
    asked = [each for each in nodes if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "isinstance"]
    return names_in([*handlers, *asked])


def test_each_reason_has_a_row():
    assert set(ROWS) == set(REASONS)


@pytest.mark.parametrize("name", REASONS)
def test_the_module_of_the_row_retries(name):
    module = SOURCE / f"{ROWS[name].replace('.', '/')}.py"
    bases = {each.__name__ for each in getattr(retrace, name).__mro__ if each.__name__ in REASONS}
    wanted = {"Exception"} if name in BY_WHAT_THEY_LEAVE else bases
    assert wanted & handled(module), f"{module} does not handle {name}"
