"""Who may have written what is in the cache on disk: what is loaded from there runs as the user."""

import os
import stat

import pytest

from numbagraph.runtime.cache import CacheWarning, DiskCache
from tests.support.caches import entries, put_and_get, unix


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "cache", max_bytes=10**6)


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
