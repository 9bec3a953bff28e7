"""The examples in the documentation and in public docstrings run and give what they show."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import numbagraph
import numbagraph.runtime.threads

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("page", ["docs/tour.md"])
def test_examples_of_a_page(page: str) -> None:
    results = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=OPTIONS)
    assert results.attempted > 10
    assert results.failed == 0


def test_the_table_of_ops_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "op_table.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize(
    "module", [numbagraph.frontend.jit, numbagraph.frontend.differentiation, numbagraph.runtime.threads]
)
def test_examples_of_docstrings(module: object) -> None:
    results = doctest.testmod(module, optionflags=OPTIONS)  # type: ignore[arg-type]
    assert results.attempted > 1
    assert results.failed == 0
