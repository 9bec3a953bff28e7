"""Write docs/coverage: which of NumPy's and SciPy's functions work in compiled functions.

``python tools/numpy_coverage.py`` measures all of them; ``--check`` fails when a page says something else.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "coverage"

HEAD = """# What of NumPy works in compiled functions

Each name below is called under `graph_jit` on traced arguments (`python tools/numpy_coverage.py`), and works if values,
dtypes and shapes are NumPy's or SciPy's. The names are those of the modules themselves; the calls stand in
`tests/support/coverage`. What is refused by name counts as missing.

| | works | of | |
| --- | --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    sys.path.insert(0, str(ROOT))
    from tests.support.coverage.families import families
    from tests.support.coverage.measure import failure

    summary, found = [], {}
    for name, family in families().items():
        reasons = {each: family.refused.get(each) or failure(call) for each, call in family.calls.items()}
        working = sum(not reason for reason in reasons.values())
        part = f"{100 * working / len(reasons):.1f} %"
        summary.append(f"| [{family.title}]({name}.md) | {working} | {len(reasons)} | {part} |")
        rows = [row(each, family.calls[each], reason) for each, reason in reasons.items()]
        lines = [f"# {family.title}\n", f"{working} of {len(reasons)} work. Written by `tools/numpy_coverage.py`.\n"]
        lines += ["| name | call | works |", "| --- | --- | --- |", *rows]
        found[name] = "\n".join(lines) + "\n"
    return {"README": HEAD + "\n".join(summary) + "\n"} | found


def row(name: str, call: str | None, reason: str) -> str:
    shown = "" if call is None else f"`{call}`".replace("|", "\\|")
    return f"| `{name}` | {shown} | {'no: ' + reason.replace('|', ' ') if reason else 'yes'} |"


def main() -> int:
    texts = pages()
    if "--check" in sys.argv[1:]:
        stale = [name for name, text in texts.items() if (FOLDER / f"{name}.md").read_text() != text]
        if stale:
            print(f"docs/coverage is out of date in {', '.join(stale)}: run python tools/numpy_coverage.py")
        return bool(stale)
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts.items():
        (FOLDER / f"{name}.md").write_text(text)
    print(texts["README"].partition("| --- |")[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
