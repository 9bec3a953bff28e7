"""What the tests of the cache on disk share."""

import os

import pytest

unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no modes on this system")


def entries(cache):
    return sorted(cache.directory.glob("*.bin"))


def put_and_get(cache):
    cache.put("key", b"code")
    return cache.get("key")
