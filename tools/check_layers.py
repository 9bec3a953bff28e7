"""Check that imports inside numbagraph go one way: from a layer to those below it.

ruff's `banned-api` (TID251) is one list for all files, while each layer must ban what stands above it. So ruff runs
here once for each distinct list. It sees relative and absolute imports, imports inside functions and under
`TYPE_CHECKING`, and `import numbagraph` with `numbagraph.jit` later. A `noqa` comment does not count. Inside a
layer, too, no modules import each other, functions and `TYPE_CHECKING` included.

What is imported when it is first used may be named by its path, "numbagraph.rewrite.fission:divided_loops", which ruff
does not see: a path counts as an import. The frontend's lead back to each other, since a function that users call may
be traced by what traces it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

# From the bottom to the top. A module may import its own layer and those before it.
LAYERS = (
    "version",
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

# Every layer may import these, but only inside a function: TID253 in pyproject.toml sees to that.
IMPORTED_WHEN_USED = {"jax_bridge", "pymc_bridge"}

PATHS_LEAD_BACK = {"tracing", "capture", "jit", "library"}
"""Layers in which a path is no import of a module of the same layer."""

NAMED = re.compile(r"(numbagraph(?:\.\w+)+):\w+")
PACKAGE = Path(__file__).parents[1] / "src" / "numbagraph"
RUFF = (
    sys.executable,
    "-m",
    "ruff",
    "check",
    "--isolated",
    "--quiet",
    "--ignore-noqa",
    "--output-format=concise",
)


def public_names() -> set[str]:
    """Return what the root of the package hands on; inside the package it is imported from its own layer."""
    for statement in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        match statement:
            case ast.Assign(targets=[ast.Name("__all__")], value=names):
                return set(ast.literal_eval(names)) - set(LAYERS)
    return set()


def layer_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def named(file: Path, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules of the package whose paths stand in a file."""
    texts = [each.value for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.Constant)]
    matches = [NAMED.fullmatch(each) for each in texts if isinstance(each, str)]
    return {each[1] for each in matches if each is not None} & modules.keys()


def modules_of_package() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imported(file: Path, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules of the package that a file imports anywhere."""
    layer = layer_of(file)
    found = {each for each in named(file, modules) if layer not in PATHS_LEAD_BACK or layer_of(modules[each]) != layer}
    for statement in ast.walk(ast.parse(file.read_text())):
        match statement:
            case ast.Import(names):
                found.update(each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                inner = {f"{module}.{each.name}" for each in names}
                found |= inner & modules.keys() or {module}
    return found & modules.keys()


def cycle() -> list[str]:
    """Return modules of which each imports the next, and the last one the first; none, if there are no such modules."""
    modules = modules_of_package()
    imports = {name: imported(path, modules) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def main() -> int:
    files_by_ban: dict[frozenset[str], list[Path]] = defaultdict(list)
    from_root, modules = public_names(), modules_of_package()
    failed = False
    for path in sorted(PACKAGE.rglob("*.py")):
        layer = layer_of(path)
        if layer == "__init__":  # hands on the names of all layers
            continue
        if layer not in LAYERS:
            print(f"{path}: give '{layer}' its place in LAYERS of tools/check_layers.py")
            failed = True
            continue
        above = set(LAYERS[LAYERS.index(layer) + 1 :])
        above -= IMPORTED_WHEN_USED
        files_by_ban[frozenset(above | from_root)].append(path)
        for name in sorted(named(path, modules)):
            if layer_of(modules[name]) in above:
                print(f"{path}: the path {name} leads to a layer that stands above this file")
                failed = True

    for banned, files in files_by_ban.items():
        reason = "{msg = 'it stands above this file, see tools/check_layers.py'}"
        table = ", ".join(f"'numbagraph.{name}' = {reason}" for name in sorted(banned))
        option = f"lint.flake8-tidy-imports.banned-api = {{{table}}}"
        command = [*RUFF, "--select=TID251", "--config", option, *files]
        failed |= subprocess.run(command, check=False).returncode != 0
    found = cycle()
    if found:
        print("modules import each other: " + " -> ".join(found))
    return int(failed or bool(found))


if __name__ == "__main__":
    sys.exit(main())
