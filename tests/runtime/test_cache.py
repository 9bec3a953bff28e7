"""The disk cache: it may be slow, full or broken, but it never gives a wrong answer and never raises."""

import multiprocessing
import os
import shutil
import socket
import time
import warnings

import numpy as np
import pytest

from numbagraph.runtime import cache as module
from numbagraph.runtime.cache import CacheWarning, DiskCache
from tests.support.caches import entries, put_and_get, unix


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "cache", max_bytes=10**6)


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


@pytest.mark.parametrize("function", ["open", "fdopen", "replace"])
def test_a_full_or_read_only_disk_warns_once(cache, monkeypatch, function):
    cache.put("old", b"code")

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    with pytest.warns(CacheWarning, match="No space left") as caught:
        assert [put_and_get(cache) for _ in range(2)] == [None] * 2
    monkeypatch.undo()
    assert len({str(warning.message) for warning in caught}) == len(caught) <= 2
    assert cache.get("key") is None
    assert cache.get("old") == b"code"
    assert [path.name for path in cache.directory.iterdir()] == [path.name for path in entries(cache)]


def test_a_directory_that_goes_away_is_made_again(cache):
    assert put_and_get(cache) == b"code"
    shutil.rmtree(cache.directory)
    assert cache.get("key") is None
    assert put_and_get(cache) == b"code"


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


def pipe(path):
    os.mkfifo(path)


def listening(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path.with_name("s")))  # whose length is limited
    path.with_name("s").rename(path)


def link(path):
    own = path.with_name("own")
    own.write_bytes(b"code")
    path.symlink_to(own)


def huge(path):
    with path.open("wb") as file:
        file.truncate(2**40)


@unix
@pytest.mark.parametrize("make", [pipe, listening, link, huge, os.mkdir])
def test_what_is_no_entry_is_damage(cache, make):
    cache.put("key", b"code")
    (path,) = entries(cache)
    path.unlink()
    make(path)
    with pytest.warns(CacheWarning, match="damaged"):
        assert cache.get("key") is None
    if make is os.mkdir:
        with pytest.warns(CacheWarning, match="cannot write"):
            cache.put("key", b"code")
    else:
        assert put_and_get(cache) == b"code"


def test_an_entry_copied_over_another_is_damage(cache):
    cache.put("key", b"code")
    (mine,) = entries(cache)
    cache.put("other", b"other code")
    (other,) = set(entries(cache)) - {mine}
    shutil.copy(other, mine)
    with pytest.warns(CacheWarning, match="damaged"):
        assert cache.get("key") is None
    assert cache.get("other") == b"other code"


def test_an_entry_larger_than_the_cache_is_not_stored(cache):
    cache.put("key", bytes(10**6))
    assert cache.get("key") is None


def test_a_rejected_entry_is_removed(cache):
    cache.put("key", b"code")
    with pytest.warns(CacheWarning, match="because"):
        cache.reject("key", ValueError("because"))
    assert not entries(cache)


# ---- how large it is ----


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
    cache._tidy(time.time())
    assert not old.exists()
    assert new.exists()
    assert cache.get("key") == b"code"


@pytest.mark.parametrize("now", [0.0, 1e9, 1e10], ids=["1970", "past", "future"])
def test_times_that_are_later_than_now(cache, now):
    """They count as now: no entry is removed before older ones, or outlives all others."""
    for number in range(15):
        cache.put(f"key {number}", bytes(1000))
    unfinished = cache.directory / "later.part"
    unfinished.write_bytes(b"half")
    places = [cache.directory / module.name_of(f"key {number}") for number in range(15)]
    for path in (*places, unfinished):
        os.utime(path, (now + 1e6, now + 1e6))
    cache._tidy(now)
    assert {path.stat().st_mtime for path in cache.directory.iterdir()} == {now}
    assert len(entries(cache)) == 15
    assert unfinished.exists()
    for path in places[5:]:
        os.utime(path, (now + 4000, now + 4000))
    cache.max_bytes = 14_000
    cache._tidy(now + 5000)
    assert not unfinished.exists()
    assert entries(cache) == sorted(places[5:])


def test_the_clock_of_the_process_has_no_part_in_it(cache, monkeypatch):
    for wrong in (0.0, -1e9, 1e12):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        for number in range(40):
            cache.put(f"key {number}", bytes(1000))
        assert all(cache.get(f"key {number}") for number in range(40))


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
