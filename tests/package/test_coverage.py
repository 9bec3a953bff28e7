"""What the pages of docs/coverage say works, works; and the pages have all names."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.coverage.families import families
from tests.support.coverage.measure import failure
from tests.support.coverage.numpy_calls import REMOVED

FOLDER = Path(__file__).parents[2] / "docs" / "coverage"
ROW = re.compile(r"^\| `([\w.]+)` \| .* \| (yes|no: .*) \|$", re.MULTILINE)
FAMILIES = families()


def rows(page):
    return dict(ROW.findall((FOLDER / f"{page}.md").read_text()))


@pytest.mark.parametrize("page", FAMILIES)
def test_what_works_goes_on_working(page, extent):
    backend = "numba" if extent == "all" else "numpy"
    calls, stated = FAMILIES[page].calls, rows(page)
    missing = {name for name in REMOVED if not hasattr(np, name)}
    working = [name for name, state in stated.items() if state == "yes" and name not in missing]
    failures = {name: failure(calls[name], backend) for name in working}
    assert not {name: reason for name, reason in failures.items() if reason}


@pytest.mark.parametrize("page", FAMILIES)
def test_pages_have_all_names_and_count_them(page):
    calls, stated, text = FAMILIES[page].calls, rows(page), (FOLDER / f"{page}.md").read_text()
    assert list(stated) == list(calls)
    working = sum(state == "yes" for state in stated.values())
    assert f"{working} of {len(calls)} work." in text
    assert f"({page}.md) | {working} | {len(calls)} |" in (FOLDER / "README.md").read_text()
