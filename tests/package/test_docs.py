"""The examples in the documentation and in public docstrings run and give what they show."""

import ast
import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import numbagraph
import numbagraph.api.branches
import numbagraph.api.callbacks
import numbagraph.api.debug_print
import numbagraph.api.jacobians
import numbagraph.api.loops
import numbagraph.runtime.threads

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "numbagraph"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RUN = [
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("index", "installation", "tour", "sharp_bits", "coming_from", "replacements")
    ),
    *(page for page in sorted(ROOT.glob("docs/howto/*.md")) if ">>> " in page.read_text()),
]
"""Pages whose examples are run here."""
LONG = ("docs/tour.md", "docs/howto/jax_and_gpu.md")
"""They take as long as all others together, since they compile by XLA."""
RUN_ELSEWHERE = [ROOT / "docs" / "pymc.md"]
"""With PyMC, which is in few environments: `tests/pymc_bridge/test_mode.py`."""
FILE = r"`([a-z_]\w*/[\w/]*\.(?:py|ll))`"
NAMES = r"(?:`[\w.]+`(?:, | and )?)+"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def named(page: Path) -> Any:
    name = str(page.relative_to(ROOT))
    return pytest.param(page, id=name, marks=pytest.mark.repeats if name in LONG else ())


@pytest.mark.parametrize("page", [*map(named, RUN)])
def test_examples_of_a_page(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert results.attempted > 1
    assert results.failed == 0


def test_each_block_of_python_is_run() -> None:
    """Blocks are examples of doctest; those that are none, as in the README, are programs."""
    for page in PAGES:
        text = page.read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        for block in blocks:
            if block.startswith(">>> "):
                assert page in [*RUN, *RUN_ELSEWHERE], f"{page} is not among the pages whose examples are run"
                assert block.endswith("\n\n"), f"what the last example of a block of {page} prints has no end"
            elif page == ROOT / "README.md":
                exec(compile(block, str(page), "exec"), {"__name__": "README"})


def replaced() -> list[tuple[str, str, int]]:
    """The calls that the page of replacements has others for, the argument that is traced, and their lines."""
    page = (ROOT / "docs" / "replacements.md").read_text()
    examples = [each for each in doctest.DocTestParser().get_examples(page) if each.source.startswith("same(")]
    calls = [ast.parse(each.source, mode="eval").body for each in examples]
    return [
        (ast.unparse(call.args[1]), ast.unparse(call.args[2]), example.lineno)
        for call, example in zip(calls, examples, strict=True)
        if isinstance(call, ast.Call)
    ]


@pytest.mark.parametrize(("call", "argument", "line"), replaced())
def test_what_has_a_replacement_is_refused(call: str, argument: str, line: int, tmp_path: Path) -> None:
    """A function that works by now leaves the page."""
    page = (ROOT / "docs" / "replacements.md").read_text()
    examples = [each for each in doctest.DocTestParser().get_examples(page) if each.lineno < line]
    scope: dict[str, Any] = {}
    for each in examples:
        if not each.source.startswith("same("):
            exec(compile(each.source, "replacements", "exec"), scope)
    file = tmp_path / "call.py"  # functions are captured by their source
    file.write_text(f"def function({argument}):\n    return {call}\n")
    exec(compile(file.read_text(), str(file), "exec"), scope)
    with pytest.raises(TypeError, match="not supported"):
        numbagraph.graph_jit(scope["function"])(scope[argument])


def test_the_gallery_shows_each_of_its_examples() -> None:
    shown = re.findall(r"^```\{example\} (\w+)$", (ROOT / "docs" / "gallery.md").read_text(), flags=re.MULTILINE)
    assert sorted(shown) == sorted(script.stem for script in (ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("tool", ["op_table", "deferred_ops", "readmes"])
def test_the_tables_of_ops_are_up_to_date(tool: str) -> None:
    command = [sys.executable, str(ROOT / "tools" / f"{tool}.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize(
    "module",
    [
        numbagraph.jit.graph_function,
        numbagraph.api.graph_jit,
        numbagraph.api.gufunc,
        numbagraph.api.vmap,
        numbagraph.ops.linalg.singular,
        numbagraph.runtime.arguments,
        numbagraph.runtime.memory,
        numbagraph.jit.debug_nans,
        numbagraph.api.differentiation,
        numbagraph.api.jacobians,
        numbagraph.api.loops,
        numbagraph.jit.shared_variables,
        numbagraph.api.branches,
        numbagraph.api.callbacks,
        numbagraph.tracing.checks,
        numbagraph.api.debug_print,
        numbagraph.random.keys,
        numbagraph.random.continuous,
        numbagraph.random.gammas,
        numbagraph.random.counts,
        numbagraph.random.choices,
        numbagraph.runtime.threads,
    ],
)
def test_examples_of_docstrings(module: object) -> None:
    results = doctest.testmod(module, optionflags=OPTIONS)  # type: ignore[arg-type]
    assert results.attempted > 1
    assert results.failed == 0


def find_file(name: str) -> Path | None:
    """The file that a page names, from the root or from the package."""
    return next((folder / name for folder in (ROOT, PACKAGE) if (folder / name).exists()), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_what_there_is(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r"\]\((?!http)([^)#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert [name for name in re.findall(FILE, text) if find_file(name) is None] == []

    named = re.findall(rf"{FILE}\s\(({NAMES})\)", text)
    named += [(file, names) for names, file in re.findall(rf"({NAMES}) in {FILE}", text)]
    missing = []
    for file, names in named:
        found = find_file(file)
        source = found.read_text() if found else ""
        words = [name.split(".")[-1] for name in re.findall(r"`([\w.]+)`", names)]
        missing += [(file, word) for word in words if not re.search(rf"\b{word}\b", source)]
    assert missing == []


def test_the_architecture_shows_the_layers() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    picture = text.split("## Layers")[1].split("```")[1]
    layers = runpy.run_path(str(ROOT / "tools" / "check_layers.py"))["LAYERS"]
    assert re.findall(r"^ (\w+)", picture, re.MULTILINE) == list(reversed(layers))


def test_citation_and_changelog_are_of_this_version() -> None:
    version = numbagraph.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
