"""Files that tools write: each tool writes its file, or says with ``--check`` that it is out of date."""

from __future__ import annotations

import sys
from pathlib import Path


def write(path: Path, text: str) -> int:
    """Write a file; with ``--check`` among the arguments, compare it. The exit status: 1 if it is out of date."""
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
        return 0
    is_current = path.exists() and path.read_text() == text
    if not is_current:
        print(f"{path.name} is out of date: run python tools/{Path(sys.argv[0]).name}")
    return int(not is_current)
