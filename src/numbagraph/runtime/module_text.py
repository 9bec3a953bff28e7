"""LLVM modules as text: their functions and what these refer to; functions of the same code are merged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from numbagraph.ir.structs import Struct, cached_property

_DEFINITION = re.compile(r"(?m)^define .*\n\{\n(?:.*\n)*?\}\n")
_GLOBAL = re.compile(r'@"[^"]*"')
_LOCAL = re.compile(r'(?m)%"([^"]*)"|^([^\s%:{}]+):$')
"""Uses of values and labels, and the lines of labels."""
_VARIANT = re.compile(r'"vector-function-abi-variant"="([^"]*)"')
_VECTOR = re.compile(r"\(([^()]*)\)")
"""The functions for vectors in the attribute that assigns them to one for numbers: there names have no quotes."""
_METADATA = re.compile(r"!(\d+)")
_NODE = re.compile(r"(?m)^!(\d+) = (.*)$")


class Function(Struct):
    """The definition of a function."""

    text: str

    @cached_property
    def head(self) -> str:
        """The line that declares it."""
        return self.text.partition("\n")[0]

    @cached_property
    def name(self) -> str:
        """The name as it stands in the text, with quotes."""
        found = _GLOBAL.search(self.head)
        assert found is not None
        return found[0]

    @cached_property
    def references(self) -> frozenset[str]:
        """The functions and variables that it refers to."""
        return references(self.text) - {self.name}

    @property
    def is_internal(self) -> bool:
        return self.head.startswith("define internal ")

    @property
    def is_repeatable(self) -> bool:
        """Whether each part may have a copy: the linker keeps one."""
        return self.head.startswith("define weak_odr ")

    @property
    def is_apart(self) -> bool:
        """Whether nothing outside sees it, and its callers call it."""
        return self.is_internal and "noinline" in self.head


def references(text: str) -> frozenset[str]:
    """The functions and variables in a text, and the versions for vectors that LLVM may take instead."""
    vectors = (name for variant in _VARIANT.findall(text) for name in _VECTOR.findall(variant))
    return frozenset((*_GLOBAL.findall(text), *(f'@"{name}"' for name in vectors)))


class ModuleText(Struct):
    """A module: its functions, and the text of all else."""

    rest: str
    functions: tuple[Function, ...]

    def __str__(self) -> str:
        return self.rest + "\n" + "".join(each.text for each in self.functions)

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The nodes of metadata by their numbers."""
        return dict(_NODE.findall(self.rest))


def parse(text: str) -> ModuleText:
    """Read the text that llvmlite writes."""
    functions = tuple(Function(found[0]) for found in _DEFINITION.finditer(text))
    return ModuleText(_DEFINITION.sub("", text), functions)


def merged(module: ModuleText) -> ModuleText:
    """Let one function stand for all of the same code: the loop of a gradient often computes what the loop of the value
    does."""
    while True:
        stands_for: dict[str, str] = {}
        seen: dict[str, str] = {}
        for each in module.functions:
            if each.is_apart:
                first = seen.setdefault(canonical(each, module.metadata), each.name)
                if first != each.name:
                    stands_for[each.name] = first
        if not stands_for:
            return module
        kept = [each for each in module.functions if each.name not in stands_for]
        module = ModuleText(module.rest, tuple(_renamed(kept, stands_for)))


def _renamed(functions: Sequence[Function], names: Mapping[str, str]) -> Iterator[Function]:
    for each in functions:
        if each.references.isdisjoint(names):
            yield each
        else:
            yield Function(_GLOBAL.sub(lambda found: names.get(found[0], found[0]), each.text))


def canonical(function: Function, metadata: Mapping[str, str]) -> str:
    """The text of a function with numbers for its local names and the contents of its metadata."""
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f"%{numbers.setdefault(name, len(numbers))}"

    text = _LOCAL.sub(numbered, function.text.replace(function.name, "@"))
    return _METADATA.sub(lambda found: _content(found[1], metadata, ()), text) if "!" in text else text


def _content(number: str, metadata: Mapping[str, str], around: tuple[str, ...]) -> str:
    """The content of a node of metadata. A node that stands in itself is distinct: it is named by how far out it is."""
    if number in around:
        return f"!{around[::-1].index(number)}"
    inner = (*around, number)
    return "(" + _METADATA.sub(lambda found: _content(found[1], metadata, inner), metadata[number]) + ")"
