"""The command ``python -m numbagraph``: it shows the installation, the machine and the cache, and tests them
together."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numbagraph.api.differentiation import grad
from numbagraph.explain.report import format_bytes
from numbagraph.intrinsics.emitters.target import host
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.runtime.cache import DiskCache, default_cache
from numbagraph.runtime.threads import threads_of_process
from numbagraph.runtime.trusted_files import UnsafeError, make_directory, resolved
from numbagraph.version import __version__

NEEDED = ("numpy", "scipy", "numba", "llvmlite", "optree", "platformdirs")
OPTIONAL = ("jax", "pytensor", "pymc", "nutpie", "dask", "xarray")


def print_line(title: str, text: object) -> None:
    print(f"{title:<12}{text}")  # noqa: T201  a command's output


def version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {found}" for name in names if (found := version_of(name)) is not None)


def processor() -> str:
    target = host()
    width = target.vector_bytes
    return f"{target.processor} ({target.triple}), vectors of {width * 8 if width else 'an unknown number of'} bits"


def blas() -> str:
    found: Any = np.show_config(mode="dicts")
    parts = found.get("Build Dependencies", {})
    return ", ".join(
        f"{what} {each.get('name')} {each.get('version')}" for what, each in parts.items() if each.get("name")
    )


def cache_lines() -> Iterator[tuple[str, str]]:
    """The lines about the cache: its place, its permissions, and its contents."""
    cache = default_cache()
    if cache is None:
        yield "cache", "none: NUMBAGRAPH_CACHE is 0, or there is no directory for it"
        return
    yield "cache", str(cache.directory)
    yield "", rights(cache)
    entries = cache.entries()
    size, most = (format_bytes(each) for each in (sum(each for _, each in entries), cache.max_bytes))
    yield "", f"{len(entries)} entries, {size} of at most {most}"


def rights(cache: DiskCache) -> str:
    directory = str(cache.directory)
    try:
        make_directory(directory)
        resolved(directory)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except (OSError, UnsafeError) as error:
        return f"cannot be used: {error}"
    return "can be read and written, by this user alone"


def largest_difference(function: Callable[..., Any], *arguments: Any) -> float:
    """The largest difference between the results of native code, compiled anew, and of NumPy."""
    native, plain = (GraphFunction(function, backend=name, cache=False) for name in ("numba", "numpy"))
    return float(np.max(np.abs(native(*arguments) - plain(*arguments))))


def self_test() -> Iterator[tuple[str, str | None]]:
    """Run small tests. Yield the name of each, and None or a text about its failure."""
    x = np.linspace(0.1, 2.0, 1000)
    matrix = np.eye(20) + 0.01
    tests: dict[str, tuple[Callable[..., Any], Any]] = {
        "elementwise": (lambda x: np.sum(np.exp(-x) * np.sin(x)), x),
        "gradient": (grad(lambda x: np.sum(np.log(x) ** 2)), x),
        "matrices": (lambda a: np.linalg.solve(a, a @ a), matrix),
        "sorting": (lambda x: np.sort(-x)[::2], x),
    }
    for name, (function, argument) in tests.items():
        try:
            error = largest_difference(function, argument)
            yield name, None if error < 1e-10 else f"differs from NumPy by {error:g}"
        except Exception as error:  # noqa: BLE001  whatever it is, it is what was asked for
            yield name, f"{type(error).__name__}: {error}"


def examine() -> int:
    """Print the report on the installation. Return 0 if all tests pass."""
    print_line("numbagraph", f"{__version__} in {os.path.dirname(__file__)}")
    print_line("Python", f"{platform.python_version()} ({sys.executable}) on {platform.platform()}")
    print_line("packages", versions(NEEDED))
    print_line("optional", versions(OPTIONAL) or "none")
    print_line("processor", processor())
    print_line("threads", threads_of_process())
    print_line("BLAS", blas())
    for title, text in cache_lines():
        print_line(title, text)
    changed = {name: value for name, value in os.environ.items() if name.startswith("NUMBAGRAPH_")}
    print_line("settings", ", ".join(f"{name}={value}" for name, value in changed.items()) or "none")
    wrong = 0
    start = time.perf_counter()
    for number, (name, trouble) in enumerate(self_test()):
        print_line("" if number else "self-test", f"{name}: {trouble or 'right'}")
        wrong += trouble is not None
    print_line("", f"took {time.perf_counter() - start:.1f} s")
    return 1 if wrong else 0


def show_cache() -> int:
    for title, text in cache_lines():
        print_line(title, text)
    return 0


def clear_cache() -> int:
    cache = default_cache()
    count = cache.clear() if cache is not None else 0
    print_line("cache", f"{count} entries were removed")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m numbagraph",
        description="Show what numbagraph runs on, test it, and look after its cache of compiled code.",
    )
    parser.add_argument("--version", action="version", version=f"numbagraph {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="command")
    text = "versions, processor, cache, BLAS, and a test that all works together"
    commands.add_parser("doctor", help=text, description=f"Print {text}; the exit status is 1 if it does not.")
    text = "where compiled code is kept, and how much of it"
    cache = commands.add_parser("cache", help=f"{text}; `cache clear` removes it", description=f"Show {text}.")
    cache.add_argument(
        "action", nargs="?", choices=("info", "clear"), default="info", help="info shows it (default), clear removes it"
    )
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    if given.command == "doctor":
        return examine()
    return clear_cache() if given.action == "clear" else show_cache()


if __name__ == "__main__":
    sys.exit(main())
