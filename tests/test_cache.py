"""The disk cache: it may be slow, full or broken, but it never gives a wrong answer and never raises."""

import multiprocessing
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.runtime import cache as module
from numbagraph.runtime import entry, math_library
from numbagraph.runtime.cache import CacheWarning, DiskCache, default_cache
from numbagraph.runtime.compile import compile_module

unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no modes on this system")


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


# ---- who may have written it ----


def give_away(path):
    """To a user who is not this one, as only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12345, -1, follow_symlinks=False)


def written_by_group(cache, outside):
    cache.directory.chmod(0o770)


def written_by_all(cache, outside):
    cache.directory.chmod(0o1777)


def of_another(cache, outside):
    give_away(cache.directory)


def below_what_all_write(cache, outside):
    cache.directory.parent.chmod(0o777)


def below_what_is_of_another(cache, outside):
    give_away(cache.directory.parent)


def linked_into(cache, outside):
    """Behind a link, where others can write above."""
    cache.directory.rename(outside / "moved")
    cache.directory.symlink_to(outside / "moved")
    outside.chmod(0o777)


def linked_through(cache, outside):
    """By way of a link in a directory where others can write, to where they cannot."""
    target = cache.directory.with_name("moved")
    cache.directory.rename(target)
    (outside / "link").symlink_to(os.path.relpath(target, outside))
    cache.directory.symlink_to(outside / "link")
    outside.chmod(0o777)


def link_of_another(cache, outside):
    cache.directory.rename(outside / "moved")
    cache.directory.symlink_to(outside / "moved")
    give_away(cache.directory)


def leading_up(cache, outside):
    """By way of a link that ends with the name of no directory."""
    outside.chmod(0o777)
    (outside / "moved").mkdir(mode=0o700)
    for path in entries(cache):
        path.rename(outside / path.name)
    cache.directory.rmdir()
    cache.directory.symlink_to(outside / "moved" / "..")


@unix
@pytest.mark.parametrize(
    "expose",
    [
        written_by_group,
        written_by_all,
        of_another,
        below_what_all_write,
        below_what_is_of_another,
        linked_into,
        linked_through,
        link_of_another,
        leading_up,
    ],
)
def test_a_directory_that_others_can_change_is_not_used(cache, tmp_path, expose):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    assert put_and_get(cache) == b"code"
    expose(cache, outside)
    with pytest.warns(CacheWarning, match=r"others can write in|belongs to user 12345") as caught:
        assert [cache.get("key"), put_and_get(cache)] == [None, None]
    assert len(caught) == 1
    assert "set NUMBAGRAPH_CACHE_DIR to a directory of your own" in str(caught[0].message)
    assert len(list(tmp_path.rglob("*.bin"))) == 1


@unix
def test_a_directory_of_the_users_own_is_used(tmp_path):
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    shared.chmod(0o1777)  # as /tmp
    own.mkdir(mode=0o755)
    for directory in (shared / "cache", own / "cache"):
        assert put_and_get(DiskCache(directory)) == b"code"
        (tmp_path / "link").symlink_to(directory)
        assert put_and_get(DiskCache(tmp_path / "link")) == b"code"
        (tmp_path / "link").unlink()
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.warns(CacheWarning, match="symbolic links"):
        assert put_and_get(DiskCache(loop)) is None


@unix
@pytest.mark.parametrize("expose", [give_away, lambda path: path.chmod(0o620), lambda path: path.chmod(0o602)])
def test_an_entry_that_others_may_have_written_is_replaced(cache, expose):
    cache.put("key", b"code")
    (path,) = entries(cache)
    expose(path)
    with pytest.warns(CacheWarning, match="others may have written"):
        assert cache.get("key") is None
    assert not entries(cache)
    assert put_and_get(cache) == b"code"


@unix
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_what_is_made_is_for_the_user_alone(tmp_path, umask):
    cache = DiskCache(tmp_path / "above" / "cache")
    before = os.umask(umask)
    try:
        cache.put("key", b"code")
    finally:
        os.umask(before)
    made = [tmp_path / "above", cache.directory, *entries(cache)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o600]


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


def nowhere(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize(
    "usual", [nowhere(RuntimeError("no home")), nowhere(KeyError("uid not found")), lambda *_, **__: "~/.cache/x"]
)
def test_users_without_a_home_directory_have_no_cache(monkeypatch, usual):
    monkeypatch.delenv("NUMBAGRAPH_CACHE_DIR")
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    monkeypatch.setattr(module.platformdirs, "user_cache_dir", usual)
    module._warn_of_no_directory.cache_clear()
    with pytest.warns(CacheWarning, match="set NUMBAGRAPH_CACHE_DIR"):
        assert default_cache() is None
    assert graph_jit(lambda x: x + 1.625)(1.0) == 2.625  # without a second warning


def test_a_relative_directory_is_where_it_was_first_asked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", "relative-in-this-test")
    monkeypatch.chdir(tmp_path)
    assert default_cache().directory == tmp_path / "relative-in-this-test"
    monkeypatch.chdir("/")
    assert default_cache().directory == tmp_path / "relative-in-this-test"


# ---- code that is whole, but of no use ----

NOTHING = "define void @nothing() { ret void }"
INCOMPLETE = """
declare void @nobody_has_this()
define i32 @f.shapes(ptr %a, ptr %b) { call void @nobody_has_this() ret i32 0 }
define i32 @f.program(ptr %a) { call void @nobody_has_this() ret i32 0 }
define ptr @entry(ptr %a, ptr %b, i64 %c) { call void @nobody_has_this() ret ptr null }
"""


@pytest.mark.parametrize(
    "forge",
    [
        lambda: b"",
        lambda: b"nonsense",
        lambda: b"[]\nnonsense",
        lambda: b"{}\n" + compile_module(NOTHING),
        lambda: b"[1]\n" + compile_module(NOTHING),
        lambda: b'["exit"]\n' + compile_module(NOTHING),
        lambda: b'["numbagraph.math.none", "numbagraph.blas.none"]\n' + compile_module(NOTHING),
        lambda: b"[]\n" + compile_module(NOTHING),
        lambda: b"[]\n" + compile_module(INCOMPLETE),
        lambda: compile_module(INCOMPLETE),
    ],
)
def test_code_that_does_not_link_is_made_anew(tmp_path, monkeypatch, forge):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBAGRAPH_CACHE", raising=False)
    for shelf in (math_library.core_ops, math_library.math_functions):
        monkeypatch.setattr(shelf, "libraries", {})
    forged = forge()
    monkeypatch.setattr(DiskCache, "_read", lambda *_: forged)
    entry._entry.cache_clear()

    def f(x, a):
        return np.exp(x[0]), np.linalg.cholesky(a)

    compiled, x, a = graph_jit(f), np.ones(2), 2 * np.eye(3)
    with pytest.warns(CacheWarning, match="cannot be used; it is replaced") as caught:
        found = compiled(x, a)
    assert len(caught) == 1
    assert found[0] == pytest.approx(np.e, rel=1e-15)
    np.testing.assert_allclose(found[1], np.linalg.cholesky(a), rtol=1e-15)
    assert compiled.cache_info().compiled == 1
    monkeypatch.undo()
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    again = graph_jit(f)
    again(x, a)
    assert again.cache_info().found == 1


def test_a_rejected_entry_is_removed(cache):
    cache.put("key", b"code")
    with pytest.warns(CacheWarning, match="because"):
        cache.reject("key", ValueError("because"))
    assert not entries(cache)


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
