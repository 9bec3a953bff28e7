"""What type checkers say of code: the planted mistakes, all of them and nothing else; and the stubs that they read."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tools.stubs

ROOT = Path(__file__).parents[2]
PLANTED = Path(__file__).with_name("planted.py")
MISTAKES = {n for n, line in enumerate(PLANTED.read_text().splitlines(), start=1) if "# wrong: " in line}


def checker(name: str) -> list[str]:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: the extra `dev` has it")
    return [sys.executable, "-m", name]


def output(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "MYPYPATH": str(ROOT / "src")}
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True).stdout


def test_pyright_finds_what_is_wrong(tmp_path: Path) -> None:
    shutil.copy(PLANTED, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT / "src")]}))
    command = [*checker("pyright"), "--outputjson", "--pythonpath", sys.executable]
    report = json.loads(output(command, tmp_path))
    assert report["summary"]["filesAnalyzed"] == 1
    found = {each["range"]["start"]["line"] + 1 for each in report["generalDiagnostics"] if each["severity"] == "error"}
    assert found == MISTAKES


def test_mypy_finds_what_is_wrong(tmp_path: Path) -> None:
    options = ["--no-incremental", "--follow-imports=silent", "--ignore-missing-imports", "--check-untyped-defs"]
    text = output([*checker("mypy"), *options, "--python-executable", sys.executable, str(PLANTED)], tmp_path)
    found = {int(number) for number in re.findall(r"planted\.py:(\d+): error:", text)}
    assert found == MISTAKES, text


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < tools.stubs.SINCE, reason="older functions do not tell their parameters"
)
@pytest.mark.parametrize("name", tools.stubs.MODULES)
def test_a_stub_is_up_to_date(name: str) -> None:
    written, current = (tools.stubs.FOLDER / f"{name}.pyi").read_text(), tools.stubs.stub(name)
    assert written == current, "run `python tools/stubs.py`, or name there what only this NumPy has"
