"""Check the structure of the package: imports go one way, and names and folders keep its rules.

Every form of an import counts, wherever it stands: ``import``, ``from ... import``, those inside of functions and under
`TYPE_CHECKING`, and a path in a string that names a module when the program runs, ``"numbagraph.emit.nest:Nest"``. A
path that is put together while the program runs could not be seen, so that it is an error itself.

`RULES` has the rules, in their order; each yields the faults that it finds in a `Package`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

NAME = "numbagraph"

# From the bottom to the top. A module may import its own layer and those before it.
LAYERS = (
    "version",
    "times",
    "forking",
    "ir",
    "intrinsics",
    "blockwise",
    "transforms",
    "ops",
    "rewrite",
    "loops",
    "emit",
    "runtime",
    "explain",
    "tracing",
    "purity",
    "capture",
    "jit",
    "api",
    "library",
    "special",
    "linalg",
    "fft",
    "numpy",
    "random",
    "errors",
    "__main__",
    "jax_bridge",
    "pymc_bridge",
    "testing",
)

BRIDGES = {"jax_bridge": {"jit.backends", "api.jax_functions"}, "pymc_bridge": set()}
"""Layers at the top, and the modules below that import them, inside of functions, when they are used."""

SUBLAYERS: Mapping[str, Sequence[Sequence[str]]] = {
    "capture": (
        ("syntax", "polyfills"),
        ("values",),
        ("statements",),
        ("builtins",),
        ("convert", "returned_values", "operators"),
    ),
}
"""The order inside of a layer: a module may import its own group and those before it."""

LATE = frozenset(("Later", "load", "lazy", "import_module", "Finder"))
"""Functions and classes that are given the path of a module; a class whose name ends with ``Pass`` is one, too."""

LARGEST_FOLDER = 40
LARGEST_FILE = 500
MOST_AT_THE_TOP = 12
MOST_OF_A_NAME = 2
COMMON_NAMES = frozenset(("__init__", "__main__"))

PATH = re.compile(rf"{NAME}(\.\w+)+(:\w+)?")
PIECE_OF_PATH = re.compile(rf"{NAME}\.({'|'.join(LAYERS)})(\.\w+)*[.:]")
"""A string that is the beginning of a path."""

NOT_NOUNS = re.compile(r"(^|_)(\w+ly|apart|together|outside|inside|beyond|within|called|held|kept|traced|stale)$")
"""Module names that are no nouns: adverbs, and participles that say nothing alone."""

USER_CODE = "tracing.user_code"
PLACES_OF_LIBRARIES = frozenset(("site-packages", "dist-packages", "purelib", "platlib", "stdlib", "platstdlib"))

RETRACES = "tracing.retrace"


class Import(NamedTuple):
    """One import of a module of the package, or of a name in it."""

    module: str
    line: int


class Package:
    """The modules of a package, and what each of them imports."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The files by the names of modules, without that of the package; ``""`` is its own."""
        found = {}
        for path in sorted(self.root.rglob("*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return found

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in self.modules.items()}

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """The imports of each module, of all forms."""
        return {name: list(self._imports_of(name)) for name in self.modules}

    @cached_property
    def public_names(self) -> set[str]:
        """The names that the root hands on; inside of the package they are imported from their own modules."""
        for statement in self.trees.get("", ast.Module([], [])).body:
            match statement:
                case ast.Assign(targets=[ast.Name("__all__")], value=names):
                    return set(ast.literal_eval(names)) - set(LAYERS)
        return set()

    def place(self, name: str, line: int = 1) -> str:
        return f"{self.modules[name]}:{line}"

    def _imports_of(self, name: str) -> Iterator[Import]:
        for node in ast.walk(self.trees[name]):
            match node:
                case ast.Import(names):
                    for each in names:
                        yield from self._found(each.name, node.lineno)
                case ast.ImportFrom(module=module, names=names, level=level):
                    home = (
                        ".".join([*self._home(name, level), *([module] if module else [])]) if level else module or ""
                    )
                    for each in names:
                        yield from self._found(f"{home}.{each.name}", node.lineno)
                case ast.Constant(str(text)) if PATH.fullmatch(text) and (":" in text or id(node) in self._late[name]):
                    yield from self._found(text.partition(":")[0], node.lineno)

    def _home(self, name: str, level: int) -> list[str]:
        """The package that an import of a module begins at, if it is relative."""
        parts = [NAME, *filter(None, name.split("."))] if level else []
        return parts[: len(parts) - level + (self.modules[name].stem == "__init__")]

    def _found(self, path: str, line: int) -> Iterator[Import]:
        """The module that a path leads to: itself, or the one that has a name of that kind."""
        if path == NAME:
            yield Import("", line)
        elif path.startswith(f"{NAME}."):
            inner = path.removeprefix(f"{NAME}.")
            while inner and inner not in self.modules:
                inner = inner.rpartition(".")[0]
            if inner or path.count(".") == 1:
                yield Import(inner or f":{path.rpartition('.')[2]}", line)

    @cached_property
    def _late(self) -> dict[str, set[int]]:
        """Which constants are arguments of what imports late, by the identity of their nodes."""
        found: dict[str, set[int]] = defaultdict(set)
        for name, tree in self.trees.items():
            for call in late_calls(tree):
                found[name].update(id(each) for each in ast.walk(call) if isinstance(each, ast.Constant))
        return found


def late_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in LATE or called.endswith("Pass"):
                yield node


def layer_of(name: str) -> str:
    return name.partition(".")[0]


def rank(name: str) -> int:
    return LAYERS.index(layer_of(name))


def imports_go_down(package: Package) -> Iterator[str]:
    """A module imports its own layer and those below it."""
    for name, imports in package.imports.items():
        if not name:
            continue
        if layer_of(name) not in LAYERS:
            yield f"{package.place(name)}: give {layer_of(name)!r} its place in LAYERS of tools/check_layers.py"
            continue
        for module, line in imports:
            if module.startswith(":"):
                if module[1:] in package.public_names:
                    yield f"{package.place(name, line)}: import {module[1:]} from its own module, not from {NAME}"
            elif layer_of(module) in BRIDGES and layer_of(module) != layer_of(name):
                allowed = BRIDGES[layer_of(module)] | {"testing"}
                if name not in allowed and layer_of(name) not in allowed and rank(name) < rank(module):
                    yield f"{package.place(name, line)}: only {', '.join(sorted(allowed))} import {layer_of(module)}"
            elif module and rank(module) > rank(name):
                yield f"{package.place(name, line)}: {module} stands above this file"


def no_circles(package: Package) -> Iterator[str]:
    """No modules import each other."""
    graph = {
        name: {each.module for each in imports if each.module in package.modules and each.module != name} - {""}
        for name, imports in package.imports.items()
        if name
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield "modules import each other: " + " -> ".join(reversed(error.args[1]))


def sublayers_go_down(package: Package) -> Iterator[str]:
    """Inside of a layer that has an order, too."""
    for layer, groups in SUBLAYERS.items():
        order = {part: number for number, group in enumerate(groups) for part in group}
        for name, imports in package.imports.items():
            if layer_of(name) != layer or name == layer:
                continue
            part = name.split(".")[1]
            if part not in order:
                yield f"{package.place(name)}: give {part!r} its place in SUBLAYERS of tools/check_layers.py"
                continue
            for module, line in imports:
                other = module.split(".")[1] if layer_of(module) == layer and "." in module else part
                if order.get(other, -1) > order[part]:
                    yield f"{package.place(name, line)}: {module} stands above {layer}.{part}"


def library_is_found_by_its_index(package: Package) -> Iterator[str]:
    """Nothing below the library imports it: traced arrays look functions up in `tracing.replacements`."""
    for name, imports in package.imports.items():
        for module, line in imports:
            if name and layer_of(module) == "library" and rank(name) < LAYERS.index("library"):
                yield f"{package.place(name, line)}: look {module} up in tracing.replacements; library.index has it"


def paths_are_whole(package: Package) -> Iterator[str]:
    """The path of a module is one string: no f-string, no sum of strings, no beginning that something is added to."""
    for name, tree in package.trees.items():
        if not name:  # hands on names of all layers by themselves
            continue
        pieces = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and PIECE_OF_PATH.fullmatch(node.value)
        ]
        begun = [each for each in late_calls(tree) if begins_with_value(each)]
        for node in (*pieces, *begun):
            yield f"{package.place(name, node.lineno)}: write the path of a module in one string"


def begins_with_value(call: ast.Call) -> bool:
    """Whether the path that a call is given is an f-string whose beginning is only known when the program runs."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.JoinedStr) and isinstance(first.values[0], ast.FormattedValue)


def late_imports_have_one_form(package: Package) -> Iterator[str]:
    """What is imported by its first use is a `Later`; `load` is for paths in tables and declarations."""
    for name, tree in package.trees.items():
        for node in ast.walk(tree) if name else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for inner in ast.walk(node):
                    of_package = isinstance(inner, ast.ImportFrom) and str(inner.module).split(".")[0] == NAME
                    if of_package and not bridge_import(name, inner):
                        yield f"{package.place(name, inner.lineno)}: bind the module to a Later at the top of the file"


def bridge_import(name: str, node: ast.AST) -> bool:
    module = getattr(node, "module", "") or ""
    return name in BRIDGES.get(module.split(".")[1] if "." in module else "", set())


def imports_are_absolute(package: Package) -> Iterator[str]:
    """No import is relative."""
    for name, tree in package.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                yield f"{package.place(name, node.lineno)}: write the import from {NAME} on"


def folders_are_small(package: Package) -> Iterator[str]:
    """Folders, files, and the top of the package are small; no module name comes often."""
    folders = Counter(path.parent for path in package.modules.values())
    for folder, count in folders.items():
        most = MOST_AT_THE_TOP if folder == package.root else LARGEST_FOLDER
        if count > most:
            yield f"{folder}: {count} modules, at most {most} may stand in this folder"
    for path in package.modules.values():
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LARGEST_FILE:
            yield f"{path}: {lines} lines, at most {LARGEST_FILE} may stand in a file"
    stems = Counter(path.stem for path in package.modules.values())
    for stem, count in stems.items():
        if stem not in COMMON_NAMES and count > MOST_OF_A_NAME:
            yield f"{count} modules have the name {stem}, at most {MOST_OF_A_NAME} may"


def modules_are_nouns(package: Package) -> Iterator[str]:
    """No module is named by an adverb, or by a participle alone."""
    for name, path in package.modules.items():
        if NOT_NOUNS.search(path.stem):
            yield f"{package.place(name)}: name the module by a noun of the field"


def bases_declare_what_they_have(package: Package) -> Iterator[str]:
    """A base class never declares an attribute of its subclass as `Any`, nor a private method that raises."""
    bases = {base for tree in package.trees.values() for each in classes(tree) for base in names_of_bases(each)}
    for name, tree in package.trees.items():
        for each in classes(tree):
            if each.name not in bases or is_record(each):
                continue
            for statement in each.body:
                match statement:
                    case ast.AnnAssign(target=ast.Name(attribute), annotation=ast.Name("Any"), value=None):
                        yield f"{package.place(name, statement.lineno)}: give {each.name}.{attribute} a type"
                    case ast.FunctionDef(name=method) if method.startswith("_") and is_stub(statement):
                        yield f"{package.place(name, statement.lineno)}: {each.name}.{method} belongs to its subclass"


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef))


def names_of_bases(kind: ast.ClassDef) -> Iterator[str]:
    for base in kind.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        yield base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def is_record(kind: ast.ClassDef) -> bool:
    """Whether the annotations of a class are the fields of its own constructor."""
    return bool({"Struct", "NamedTuple"} & set(names_of_bases(kind))) or bool(kind.decorator_list)


def is_stub(function: ast.FunctionDef) -> bool:
    last = function.body[-1]
    return isinstance(last, ast.Raise) and getattr(last.exc, "id", "") == "NotImplementedError"


def one_judge_of_user_code(package: Package) -> Iterator[str]:
    """`tracing.user_code` alone knows where libraries are installed."""
    for name, tree in package.trees.items():
        for node in ast.walk(tree):
            if name != USER_CODE and isinstance(node, ast.Constant) and node.value in PLACES_OF_LIBRARIES:
                yield f"{package.place(name, node.lineno)}: ask {USER_CODE} whether code is the user's"


def one_table_of_retraces(package: Package) -> Iterator[str]:
    """Errors that let something be traced again are defined in `tracing.retrace`, which has their table."""
    for name, tree in package.trees.items():
        for each in classes(tree):
            if name != RETRACES and "Retrace" in names_of_bases(each):
                yield f"{package.place(name, each.lineno)}: define {each.name} in {RETRACES}"


RULES: tuple[Callable[[Package], Iterator[str]], ...] = (
    imports_go_down,
    no_circles,
    sublayers_go_down,
    library_is_found_by_its_index,
    paths_are_whole,
    late_imports_have_one_form,
    imports_are_absolute,
    folders_are_small,
    modules_are_nouns,
    bases_declare_what_they_have,
    one_judge_of_user_code,
    one_table_of_retraces,
)


def main() -> int:
    package = Package(Path(__file__).parents[1] / "src" / NAME)
    faults = [fault for rule in RULES for fault in rule(package)]
    print("\n".join(faults), end="\n" if faults else "")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
