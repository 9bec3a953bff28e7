"""What the tests of the cache on disk share."""

import os
import subprocess
import sys

import pytest

unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no modes on this system")


def entries(cache):
    return sorted(cache.directory.glob("*.bin"))


def put_and_get(cache):
    cache.put("key", b"code")
    return cache.get("key")


def printed_in_two_processes(program, directory, monkeypatch):
    """The first line that each of two processes prints, which run one after the other on one empty cache."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(directory))
    file = directory / "program.py"
    file.write_text(program)
    runs = [subprocess.run([sys.executable, file], capture_output=True, text=True, check=True) for _ in range(2)]
    return [run.stdout.splitlines()[0] for run in runs]
