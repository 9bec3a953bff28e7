"""Write docs/pymc_coverage.md from the zoo of models: `python tools/pymc_coverage.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "pymc_coverage.md"

HEAD = """# PyMC models that numbagraph compiles

Each model of this page is compiled by the test suite, and its log-density and gradient are compared with PyTensor's at
several points (`tests/pymc_bridge/test_zoo.py`). The page is written by `tools/pymc_coverage.py`.
"""


def page() -> str:
    """The text of the page."""
    sys.path.insert(0, str(ROOT))
    from tests.support.pymc_models import MODELS

    models = list(MODELS.values())
    supported = sum(not each.unsupported for each in models)
    lines = [HEAD, f"{supported} of {len(models)} models are supported.\n"]
    for kind in dict.fromkeys(each.kind for each in models):
        lines += [f"## {kind.capitalize()}\n", "| model | what it shows | supported |", "| --- | --- | --- |"]
        for each in models:
            if each.kind == kind:
                state = f"no: it needs `{each.unsupported}`" if each.unsupported else "yes"
                lines.append(f"| {each.name} | {each.description} | {state} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
