"""The tasks of a first day, in a process of their own, as a user would start them."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "first_day"


@pytest.mark.timeout(600)
@pytest.mark.repeats
def test_the_tasks_of_a_first_day(tmp_path):
    done = subprocess.run([sys.executable, FOLDER], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert len(told) >= 30
    left_out = {name for name, text in told.items() if text.startswith("left out")}
    assert left_out <= {"labelled_arrays", "with_jax", "pymc_model"}


def test_a_task_that_is_not_there(tmp_path):
    done = subprocess.run(
        [sys.executable, FOLDER, "no_task"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no such task: no_task" in done.stderr
