"""Sections of docstrings that a family of functions has in common, each written once."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

ORDER = ("Parameters", "Returns", "Raises", "Notes", "References", "Examples")


class CommonSections:
    """A decorator that adds to numpydoc what a docstring does not say by itself.

    Parameters
    ----------
    parameters : mapping from str to str
        The description of a parameter, for functions that have one of this name.
    **sections : str
        The text of a section, for functions without it.

    Examples
    --------
    >>> @CommonSections({"key": "key : int"}, Returns="array")
    ... def draw(key, mean):
    ...     \"\"\"Numbers.
    ...
    ...     Parameters
    ...     ----------
    ...     mean : float
    ...     \"\"\"
    >>> print(draw.__doc__)
    Numbers.
    <BLANKLINE>
    Parameters
    ----------
    key : int
    mean : float
    <BLANKLINE>
    Returns
    -------
    array
    """

    def __init__(self, parameters: Mapping[str, str], **sections: str) -> None:
        self.parameters = {name: textwrap.dedent(text).strip() for name, text in parameters.items()}
        self.sections = {title: textwrap.dedent(text).strip() for title, text in sections.items()}

    def __call__(self, function: Documented) -> Documented:
        if function.__doc__ is None:  # python -OO
            return function
        summary, *parts = re.split(r"\n*^(\w+)\n-{3,}\n", inspect.cleandoc(function.__doc__), flags=re.MULTILINE)
        own = dict(zip(parts[::2], parts[1::2], strict=True))
        sections = {**self.sections, **own}
        sections["Parameters"] = self._parameters(own.get("Parameters", ""), inspect.signature(function).parameters)
        texts = [f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in ORDER if title in sections]
        function.__doc__ = "\n\n".join([summary, *texts])
        return function

    def _parameters(self, own: str, names: Mapping[str, Any]) -> str:
        """Return the descriptions of all parameters, in the order of the signature."""
        entries = [each for each in re.split(r"\n(?! )", own) if each]
        described = {name: each for each in entries for name in re.split(" :|\n", each)[0].split(", ")}
        return "\n".join(dict.fromkeys(described.get(name) or self.parameters[name] for name in names))
