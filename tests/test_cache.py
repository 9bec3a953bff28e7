"""The disk cache: it may be slow, full or broken, but it never gives a wrong answer and never raises."""

import multiprocessing
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from numbagraph.runtime import cache as module
from numbagraph.runtime.cache import CacheWarning, DiskCache, default_cache


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "cache", max_bytes=10**6)


def entries(cache):
    return sorted(cache.directory.glob("*.bin"))


def test_what_is_put_is_got(cache):
    for content in (b"", b"code", os.urandom(10_000)):
        cache.put("key", content)
        assert cache.get("key") == content
        assert DiskCache(cache.directory).get("key") == content
    assert len(entries(cache)) == 1


def test_misses_and_hits_are_counted(cache):
    assert cache.get("key") is None
    cache.put("key", b"code")
    assert cache.get("key") is not None
    assert cache.get("another key") is None
    assert (cache.hits, cache.misses) == (1, 2)


def test_keys_may_be_anything(cache):
    keys = ["", "../../escape", "a/b\\c:d", "\0", "é" * 1000, "KEY", "key"]
    for key in keys:
        cache.put(key, key.encode())
    assert [cache.get(key) for key in keys] == [key.encode() for key in keys]
    assert len(entries(cache)) == len(keys)


def put_and_get(cache):
    cache.put("key", b"code")
    return cache.get("key")


def flip(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: content + b"more",
        lambda content: bytes(len(content)),
        *(lambda content, place=place: flip(content, place) for place in (0, 8, 12, 20, 40, -2)),
    ],
)
def test_a_damaged_entry_is_a_miss_with_a_warning(cache, damage):
    cache.put("key", b"code" * 10)
    (path,) = entries(cache)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(CacheWarning, match="damaged"):
        assert cache.get("key") is None
    assert not entries(cache)
    assert cache.get("key") is None
    cache.put("key", b"new code")
    assert cache.get("key") == b"new code"


def test_many_damaged_entries_warn_once(cache):
    for key in "abc":
        cache.put(key, b"code")
    for path in entries(cache):
        path.write_bytes(b"nonsense")
    with pytest.warns(CacheWarning) as caught:
        assert [cache.get(key) for key in "abc"] == [None] * 3
    assert len(caught) == 1


def test_a_directory_that_cannot_be_made_warns_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning) as caught:
        assert [put_and_get(cache) for _ in range(3)] == [None] * 3
    assert len([w for w in caught if "write" in str(w.message)]) == 1
    assert len(caught) <= 2


@pytest.mark.parametrize("function", ["open", "replace", "makedirs"])
def test_a_full_or_read_only_disk_warns_once(cache, monkeypatch, function):
    cache.put("old", b"code")

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    if function == "open":
        monkeypatch.setattr(module, "open", fail, raising=False)
    else:
        monkeypatch.setattr(module.os, function, fail)
    with pytest.warns(CacheWarning, match="No space left") as caught:
        assert [put_and_get(cache) for _ in range(2)] == [None] * 2
    assert len({str(warning.message) for warning in caught}) == len(caught) <= 2
    monkeypatch.undo()
    assert cache.get("key") is None
    assert cache.get("old") == b"code"
    assert [path.name for path in cache.directory.iterdir()] == [path.name for path in entries(cache)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_directory_is_read(cache):
    cache.put("key", b"code")
    cache.directory.chmod(0o500)
    try:
        assert cache.get("key") == b"code"
        with pytest.warns(CacheWarning):
            cache.put("another", b"code")
    finally:
        cache.directory.chmod(0o700)


def test_an_entry_that_cannot_be_touched_is_read(cache, monkeypatch):
    cache.put("key", b"code")

    def fail(path):
        raise PermissionError(path)

    monkeypatch.setattr(module.os, "utime", fail)
    assert cache.get("key") == b"code"


def test_a_directory_in_place_of_an_entry_is_a_miss(cache):
    cache.put("key", b"code")
    (path,) = entries(cache)
    path.unlink()
    path.mkdir()
    with pytest.warns(CacheWarning):
        assert put_and_get(cache) is None


def test_the_size_is_bounded_and_what_is_used_stays(tmp_path):
    cache = DiskCache(tmp_path, max_bytes=100_000)
    past = time.time() - 1000
    for number in range(1000):
        cache.put(f"key {number}", bytes(1000))
        for path in entries(cache):
            if path.stat().st_mtime > past + 900:
                os.utime(path, (past, past + number * 0.1))
        assert cache.get("key 0") is not None
    size = sum(path.stat().st_size for path in entries(cache))
    assert size < 200_000
    assert cache.get("key 999") is not None
    assert cache.get("key 1") is None


def test_only_abandoned_unfinished_files_are_removed(cache):
    cache.put("key", b"code")
    old, new = cache.directory / "old.part", cache.directory / "new.part"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (0, 0))
    cache._tidy()
    assert not old.exists()
    assert new.exists()
    assert cache.get("key") == b"code"


def hammer(directory, seed, failures):
    warnings.simplefilter("error")
    cache = DiskCache(directory, max_bytes=50_000)
    random = np.random.default_rng(seed)
    for _ in range(600):
        key = int(random.integers(100))
        content = str(key).encode() * (1 + key * 20)
        if random.random() < 0.5:
            cache.put(f"key {key}", content)
        elif cache.get(f"key {key}") not in (None, content):
            failures.put(key)


def test_processes_share_a_directory(tmp_path):
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    processes = [context.Process(target=hammer, args=(tmp_path, seed, failures)) for seed in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert failures.empty()
    assert not list(tmp_path.glob("*.part"))


def test_default_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    here = default_cache()
    assert here is not None
    assert here.directory == tmp_path / "here"
    assert default_cache() is here
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path / "there"))
    there = default_cache()
    assert there is not None
    assert there.directory == tmp_path / "there"
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    assert default_cache() is None
    monkeypatch.delenv("NUMBAGRAPH_CACHE")
    monkeypatch.delenv("NUMBAGRAPH_CACHE_DIR")
    usual = default_cache()
    assert usual is not None
    assert "numbagraph" in str(usual.directory)


def test_the_entry_is_compiled_once_a_machine(tmp_path):
    command = "\n".join(
        [
            "import numbagraph.runtime.entry as entry",
            "import numbagraph.runtime.handwritten as handwritten",
            "calls = []",
            "compile_module = handwritten.compile_module",
            "handwritten.compile_module = lambda *a, **k: calls.append(1) or compile_module(*a, **k)",
            "assert entry.make_callable([], 'f')() is NotImplemented",
            "print(len(calls))",
        ]
    )
    environment = os.environ | {"NUMBAGRAPH_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("NUMBAGRAPH_CACHE", None)

    def compilations():
        done = subprocess.run(
            [sys.executable, "-W", "error::UserWarning", "-c", command],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        return int(done.stdout)

    assert [compilations(), compilations()] == [1, 0]
    (stored,) = tmp_path.glob("*.bin")
    stored.write_bytes(stored.read_bytes()[:-1])
    environment["PYTHONWARNINGS"] = "ignore"
    assert (
        subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, env=environment).stdout
        == b"1\n"
    )
    assert compilations() == 0
