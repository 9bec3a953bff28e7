"""Parts of an LLVM module that can be compiled side by side, and linked to one library."""

from __future__ import annotations

import re
from collections.abc import Iterable

from numbagraph.ir.structs import Struct
from numbagraph.runtime.module_text import Function, ModuleText, references

LINES_OF_A_PART, MOST_PARTS = 400, 8
"""A module has as many parts as it has this number of lines: one more takes LLVM some milliseconds. They do not follow
from the number of cores, so that what is kept on disk is the same for all."""

_DECLARATION = re.compile(r'(?m)^declare .*?(@"[^"]*").*\n')
_VARIABLE = re.compile(r'(?m)^(@"[^"]*") = .*\n')
_CONSTANT = re.compile(r'(?m)^(@"[^"]*") = (?:internal|private) (?:unnamed_addr )?constant ')
_USED = re.compile(r'(?m)^@"llvm\.compiler\.used" = .*\n')
"""A list of functions that LLVM keeps though no code refers to them yet: versions for vectors."""
_USED_FUNCTION = re.compile(r'i8\* bitcast \([^@]*(@"[^"]*") to i8\*\)')


def parts(module: ModuleText) -> list[str]:
    """Cut a module: the first part has what others see and what its state belongs to, and calls what stands in the
    others."""
    count = min(MOST_PARTS, str(module).count("\n") // LINES_OF_A_PART)
    movable = movable_functions(module) if count > 1 else {}
    if not movable:
        return [str(module)]
    fixed = [each for each in module.functions if each.name not in movable]
    groups = [Group(fixed), *(Group([]) for _ in range(count - 1))]
    for each in sorted(movable.values(), key=lambda function: -len(function.text)):
        min(groups, key=lambda group: group.weight).functions.append(each)
    writer = Writer(module, movable)
    return [writer.text(group.functions) for group in groups if group.functions]


class Group(Struct):
    """The functions of a part."""

    functions: list[Function]

    @property
    def weight(self) -> int:
        return sum(len(each.text) for each in self.functions)


def movable_functions(module: ModuleText) -> dict[str, Function]:
    """The functions that need no variable, and none of the functions that do: by their names."""
    constants = set(_CONSTANT.findall(module.rest))
    fixed = {name for name in _VARIABLE.findall(module.rest) if name not in constants}
    fixed |= {each.name for each in module.functions if not (each.is_internal or each.is_repeatable)}
    before = -1
    while before != len(fixed):
        before = len(fixed)
        fixed |= {each.name for each in module.functions if not fixed.isdisjoint(each.references)}
    return {each.name: each for each in module.functions if each.is_apart and each.name not in fixed}


class Writer:
    """Writes parts of a module as modules."""

    def __init__(self, module: ModuleText, movable: dict[str, Function]) -> None:
        self.movable = movable
        self.functions = {each.name: each for each in module.functions}
        self.declarations = {found[1]: found[0] for found in _DECLARATION.finditer(module.rest)}
        used = "".join(_USED.findall(module.rest))
        self.kept = {found[1]: found[0] for found in _USED_FUNCTION.finditer(used)}
        rest = _USED.sub("", module.rest)
        self.variables = {found[1]: found[0] for found in _VARIABLE.finditer(rest)}
        self.head = _VARIABLE.sub("", _DECLARATION.sub("", rest))

    def text(self, functions: Iterable[Function]) -> str:
        """Write some of the functions, with copies of those that are inlined into them."""
        written: dict[str, str] = {}
        wanted = [each.name for each in functions]
        own = set(wanted)
        while wanted:
            name = wanted.pop()
            if name in written:
                continue
            function = self.functions.get(name)
            if function is None:
                text = self.declarations.get(name) or self.variables[name]
                wanted += references(text) - {name}
            elif name in self.movable and name not in own:
                text = function.head.replace("define internal ", "declare hidden ", 1) + self.effects(function) + "\n"
            else:
                shown = name in self.movable
                text = function.text.replace("define internal ", "define hidden ", 1) if shown else function.text
                wanted += function.references
            written[name] = text
        return self.head + "\n".join(written[name] for name in sorted(written)) + self.used(written)

    def used(self, written: Iterable[str]) -> str:
        """The list of the written functions that LLVM keeps."""
        kept = [self.kept[name] for name in sorted(written) if name in self.kept]
        if not kept:
            return ""
        entries = f"[{len(kept)} x i8*] [{', '.join(kept)}]"
        return f'\n@"llvm.compiler.used" = appending global {entries}, section "llvm.metadata"\n'

    def effects(self, function: Function) -> str:
        """What LLVM would find out about a function that it sees: one without calls reads and writes its arguments."""
        calls_none = all(name.startswith('@"llvm.') for name in function.references)
        return " memory(argmem: readwrite) nofree nosync norecurse" if calls_none else ""
