"""The syntax tree of a function that Python has compiled, and the compilation of such a tree."""

from __future__ import annotations
import __future__

import ast
import linecache
import sys
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from numbagraph.ir.sources import Source, is_body
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.retrace import Unconvertible
from numbagraph.tracing.trace import CaptureError
from numbagraph.tracing.user_code import OWN

OPERATORS = "__numbagraph__"
"""The name of the operators' module in converted code."""

_files: dict[str, list[File]] = {}
"""Files by name: as a file is now, and as it was before, since functions outlive a reload of their module."""

_MOST_FILES = 4

Definition = ast.FunctionDef | ast.Lambda


class File(NamedTuple):
    """A file as Python reads it now."""

    lines: tuple[str, ...]
    tree: ast.Module
    codes: dict[tuple[str, int], list[CodeType]]
    """The code objects that Python compiles the file to, by name and line."""


def refusal(message: str, code: CodeType, line: int | None = None, kind: type[TraceError] = CaptureError) -> TraceError:
    return kind(f"{message}\n  at {Source(code.co_filename, code.co_firstlineno if line is None else line)}")


def site() -> tuple[Any, ...]:
    """The place of a loop in the user's code, with the calls that lead there."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(OWN):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def definition_of(code: CodeType) -> Definition:
    """The definition that a code object was compiled from, which the caller may change.

    Raises
    ------
    Unconvertible
        If there is no source.
    CaptureError
        If it has changed since it was loaded.
    """
    if not lines_of(code.co_filename):
        raise refusal(f"the source of {code.co_name} is not known", code, kind=Unconvertible)
    is_rewritten = "@pytest_ar" in code.co_names  # pytest compiles assertions in its own way
    for file in versions(code.co_filename):
        key = (code.co_name, code.co_firstlineno)
        if is_rewritten or any(is_same(each, code) for each in file.codes.get(key, ())):
            for candidate in candidates(file.tree, code):
                return copied(candidate)
    raise changed(code)


def lines_of(filename: str) -> list[str]:
    """Return the lines of a file; for ``<string>`` those of the command that ``python -c`` runs, if there is one."""
    found = linecache.getlines(filename)
    if found or filename != "<string>" or "-c" not in sys.orig_argv[1:-1]:
        return found
    return sys.orig_argv[sys.orig_argv.index("-c") + 1].splitlines(keepends=True)


def versions(filename: str) -> Iterator[File]:
    """The versions of a file: as `linecache` has it, as it was before, and as it is on disk."""
    yield from read_anew(filename)
    yield from _files.get(filename, ())[1:]
    linecache.checkcache(filename)
    yield from read_anew(filename)


def read_anew(filename: str) -> list[File]:
    """Read a file from `linecache`, and keep it; return nothing where Python cannot parse it."""
    lines = tuple(lines_of(filename))
    known = _files.get(filename, [])
    found = next((each for each in known if each.lines == lines), None)
    if found is None:
        try:
            found = read(lines, filename)
        except SyntaxError:
            return []
    _files[filename] = [found, *(each for each in known if each is not found)][:_MOST_FILES]
    return [found]


def changed(code: CodeType) -> TraceError:
    if code.co_filename == "<string>":  # of what `eval` has compiled; since Python 3.13 it is that of `python -c`, too
        return refusal(f"the source of {code.co_name} is not known", code, kind=Unconvertible)
    return refusal(
        f"the source of {code.co_name} has changed since it was loaded: load it again, by importlib.reload of its "
        "module or in a new process",
        code,
    )


def read(lines: tuple[str, ...], filename: str) -> File:
    text = "".join(lines)
    codes: dict[tuple[str, int], list[CodeType]] = {}
    pending = [compile(text, filename, "exec", dont_inherit=True)]
    while pending:
        code = pending.pop()
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
    return File(lines, ast.parse(text), codes)


def copied(node: Definition) -> Definition:
    """Copy a definition, so that it can be changed."""
    found: Definition = _Copier().visit(node)
    return found


class _Copier(ast.NodeTransformer):
    """Copies nodes rather than changing them."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fields = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fields[name] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
            else:
                fields[name] = self.visit(value) if isinstance(value, ast.AST) else value
        return ast.copy_location(type(node)(**fields), node)


def candidates(tree: ast.Module, code: CodeType) -> Iterator[Definition]:
    """The definitions in a file that have the name and the line of a code object."""
    lambdas: list[ast.Lambda] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and holds(node, code):
                lambdas.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                yield node
    yield from reversed(lambdas)  # outer ones come first


def holds(node: ast.Lambda, code: CodeType) -> bool:
    """Whether a code object's instructions come from the body of a lambda."""
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [(a, c, b, d) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (c, d) != (0, 0)]
    own = [each for each in places if each != (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)]
    if places and not own:  # of a lambda around it, which makes it and does nothing else
        return False
    return all(first <= (a, c) and (b, d) <= last for a, c, b, d in own)  # type: ignore[operator]


def is_converted(function: Any) -> bool:
    return OPERATORS in getattr(getattr(function, "__code__", None), "co_freevars", ())


def compiled(definition: Definition, like: CodeType) -> CodeType:
    """Compile a definition to code that stands in for another code object: in its file, with its closure."""
    free = [*like.co_freevars, *([] if OPERATORS in like.co_freevars else [OPERATORS])]
    outer = function_of("outer", arguments(free), placed(definition))
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, definition)], []))
    code: CodeType = compile(module, like.co_filename, "exec", dont_inherit=True, flags=_future(like))
    for name in ("outer", getattr(definition, "name", "<lambda>")):
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    return with_bodies_named(code, like.co_name).replace(co_qualname=like.co_qualname)


def with_bodies_named(code: CodeType, name: str) -> CodeType:
    """Return code as tracebacks show it: with its name, that of the function, for the bodies of its loops and branches,
    too."""
    constants = tuple(
        with_bodies_named(each, name if is_body(each) else each.co_name) if isinstance(each, CodeType) else each
        for each in code.co_consts
    )
    return code.replace(co_name=name, co_consts=constants)


def placed(definition: Definition) -> list[ast.stmt]:
    if isinstance(definition, ast.Lambda):
        return [ast.copy_location(ast.Expr(definition), definition)]
    return [definition]


def _future(code: CodeType) -> int:
    features = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    return sum(flag for flag in features if code.co_flags & flag)


def mangled_definition_of(code: CodeType) -> Definition:
    """Return the definition of a function, with private names of a class spelled as Python mangles them."""
    tree = definition_of(code)
    holder = code.co_qualname.rpartition(".")[0].rpartition(".")[2].lstrip("_")
    if not holder or holder == "<locals>":
        return tree
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, f"_{holder}{name}")
    return tree


def is_same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, nested ones included."""
    if one.co_code != other.co_code or one.co_names != other.co_names or one.co_varnames != other.co_varnames:
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    for left, right in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(left, CodeType) and isinstance(right, CodeType):
            if not is_same(left, right):
                return False
        elif type(left) is not type(right) or repr(left) != repr(right):
            return False
    return True


def arguments(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def function_of(name: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """Return a definition; since Python 3.12 it has type parameters."""
    if sys.version_info >= (3, 12):
        return ast.FunctionDef(name, parameters, body, [], type_params=[])
    return ast.FunctionDef(name, parameters, body, [])
