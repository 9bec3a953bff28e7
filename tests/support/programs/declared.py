"""How programs are declared."""

PROGRAMS = []
OTHERS = []
"""Programs, or arguments of these, that are like some of the former: they run with ``--extent=all`` alone."""
REFUSED = []
LONG = []
"""Programs with loops of many steps."""


def case(*arguments):
    """A program that gives what Python gives."""

    def declare(function):
        PROGRAMS.append((function, arguments))
        return function

    return declare


def another(*arguments):
    """A program, or arguments, of a kind of which there are others."""

    def declare(function):
        OTHERS.append((function, arguments))
        return function

    return declare


def refused(message, *arguments):
    """A program that is refused, since nobody knows which arrays its variables share, or what Python would do."""

    def declare(function):
        REFUSED.append((function, message, arguments))
        return function

    return declare


def gives(*arguments):
    """A program with loops of many steps, which gives what Python gives."""

    def declare(function):
        LONG.append((function, arguments))
        return function

    return declare
