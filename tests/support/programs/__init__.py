"""Functions with loops, branches and assignments as people write them, and arguments to try them on."""

from tests.support.programs import (
    aliases,
    arrays,
    generators,
    features,
    functions,
    idioms,
    recipes,
    algorithms,
    tries,
    lists,
    optional,
    parts,
    paths,
    statements,
    unknown,
    values,
    views,
)
from tests.support.programs.declared import PROGRAMS, REFUSED

__all__ = [
    "PROGRAMS",
    "REFUSED",
    "aliases",
    "arrays",
    "generators",
    "features",
    "functions",
    "idioms",
    "recipes",
    "algorithms",
    "tries",
    "lists",
    "optional",
    "parts",
    "paths",
    "statements",
    "unknown",
    "values",
    "views",
]
