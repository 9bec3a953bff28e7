"""What tasks are registered with, and how they are run."""

import importlib.util
from collections.abc import Callable
from contextlib import contextmanager

TASKS: list[tuple[Callable[[], None], tuple[str, ...]]] = []


def task(*libraries):
    """Register a task that uses ``libraries`` beside NumPy, SciPy and Numba."""

    def register(function):
        TASKS.append((function, libraries))
        return function

    return register


@contextmanager
def refused(kind, *parts):
    """Expect an error of a kind, whose message has these parts."""
    try:
        yield
    except kind as error:
        missing = [part for part in parts if part not in str(error)]
        if missing:
            raise AssertionError(f"{error!r} does not say {missing}") from error
        return
    raise AssertionError(f"no {kind.__name__} was raised")


def run(names):
    """Run the tasks that are named, or all of them."""
    unknown = set(names) - {function.__name__ for function, _ in TASKS}
    if unknown:
        raise SystemExit(f"no such task: {', '.join(sorted(unknown))}")
    for function, libraries in TASKS:
        if names and function.__name__ not in names:
            continue
        missing = [library for library in libraries if importlib.util.find_spec(library) is None]
        if missing:
            print(f"{function.__name__}: left out, without {', '.join(missing)}")
            continue
        function()
        print(f"{function.__name__}: {function.__doc__.splitlines()[0]}")
