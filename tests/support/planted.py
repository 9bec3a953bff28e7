"""Faults of numbagraph, for tests of what users are told of them."""

import linecache

from numbagraph.tracing.user_code import OWN


def planted(file, body, **names):
    """A function that does nothing but what ``body`` says, as if it stood in a file of numbagraph."""
    name = f"{OWN}{file}"
    source = f"def fault(*args, **kwargs):\n    {body}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names)
    return names["fault"]
