"""``python -m numbagraph``, the cache that it shows, and what ``NUMBAGRAPH_DEBUG`` prints."""

from __future__ import annotations

import re

import numpy as np
import pytest

import numbagraph
from numbagraph import __main__
from numbagraph.runtime.cache import default_cache


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of this test's own."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    return default_cache()


def compiled():
    return numbagraph.graph_jit(lambda x: np.sum(x * 3.25))


def test_without_a_command_there_is_help(capsys):
    assert __main__.main([]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("usage: python -m numbagraph", "doctor", "a test that all works together", "cache clear"):
        assert part in text


def test_the_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        __main__.main(["--version"])
    assert capsys.readouterr().out == f"numbagraph {numbagraph.__version__}\n"


def test_a_command_that_does_not_exist(capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        __main__.main(["doktor"])
    text = capsys.readouterr().err
    assert "doctor" in text
    assert "cache" in text


def test_the_doctor_finds_nothing_wrong(capsys):
    assert __main__.main(["doctor"]) == 0
    text = capsys.readouterr().out
    for part in (numbagraph.__version__, np.__version__, "vectors of", "BLAS", "by this user alone", "gradient: right"):
        assert part in text


def test_the_doctor_finds_what_is_wrong(capsys, monkeypatch):
    monkeypatch.setattr(__main__, "largest_difference", lambda *_: 0.5)
    assert __main__.main(["doctor"]) == 1
    assert "matrices: differs from NumPy by 0.5" in capsys.readouterr().out


def test_a_directory_that_others_may_write(capsys, cache):
    cache.directory.mkdir()
    cache.directory.chmod(0o777)
    assert __main__.main(["cache"]) == 0
    assert "cannot be used" in capsys.readouterr().out


def test_a_file_in_place_of_the_directory(capsys, cache):
    cache.directory.write_text("a file")
    for command in ("cache", "doctor"):
        __main__.main([command])
        assert "cannot be used" in capsys.readouterr().out
    assert cache.directory.read_text() == "a file"


def test_the_cache_is_shown_and_cleared(capsys, cache):
    assert compiled()(np.ones(3)) == 9.75
    entries = cache.entries()
    assert entries
    other = cache.directory / "of somebody else"
    other.write_text("kept")
    assert __main__.main(["cache"]) == 0
    text = capsys.readouterr().out
    assert str(cache.directory) in text
    assert f"{len(entries)} entries" in text
    assert __main__.main(["cache", "clear"]) == 0
    assert f"{len(entries)} entries" in capsys.readouterr().out
    assert cache.entries() == []
    assert other.exists()


def test_cache_clear(cache):
    function = compiled()
    numbagraph.cache_clear()  # of nothing
    assert function(np.ones(3)) == 9.75
    numbagraph.cache_clear()
    assert cache.entries() == []
    assert function(np.ones(4)) == 13.0
    again = compiled()
    assert again(np.ones(3)) == 9.75
    assert again.cache_info().compiled == 1


def test_no_cache(capsys, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    numbagraph.cache_clear()
    assert __main__.main(["cache"]) == 0
    assert "none" in capsys.readouterr().out


def test_debugging_prints_what_is_found_on_disk_too(capfd, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_DEBUG", "1")
    for origin in ("compiled here", "found on disk"):
        assert compiled()(np.ones(3)) == 9.75
        text = capfd.readouterr().err
        assert origin in text
        assert "3.25" in text
        assert "define" in text


def test_times_of_the_stages_are_printed_for_each_function(capfd, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_DEBUG", "times")
    for compiles in (True, False):
        assert compiled()(np.ones(3)) == 9.75
        text = capfd.readouterr().err
        assert "define" not in text
        found = dict(re.findall(r"[(,] ?([\w ]+?) ([\d.]+)(?=[,)])", text))
        assert "tracing" in found
        assert ("LLVM" in found) == compiles
        total = float(re.search(r": ([\d.]+) ms", text)[1])
        assert sum(map(float, found.values())) == pytest.approx(total, abs=0.6 * 20)
    monkeypatch.setenv("NUMBAGRAPH_DEBUG", "0")
    numbagraph.graph_jit(lambda x: x * 5.5)(np.ones(3))
    assert capfd.readouterr().err == ""
