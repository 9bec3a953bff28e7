"""The directive `example`: runs a script of `examples/gallery` and shows its figure, its docstring and its code."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from unittest import mock

import matplotlib as mpl
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"


def run(script: Path, image: Path) -> None:
    """Run a script, and save the figure that it would show."""
    mpl.use("Agg")
    from matplotlib import pyplot

    image.parent.mkdir(parents=True, exist_ok=True)
    with mock.patch.object(pyplot, "show"):
        runpy.run_path(str(script), run_name="__main__")
    pyplot.savefig(image, dpi=100, bbox_inches="tight")
    pyplot.close("all")


class Example(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        script = FOLDER / f"{name}.py"
        self.env.note_dependency(str(script))
        image = Path(self.env.srcdir, "images", "gallery", f"{name}.png")
        run(script, image)

        source = script.read_text()
        about = ast.get_docstring(ast.parse(source)) or ""
        code = source.split('"""\n', 1)[1].lstrip("\n")
        title, _, text = about.partition("\n\n")
        section = nodes.section(ids=[nodes.make_id(name)], names=[nodes.fully_normalize_name(title)])
        section += nodes.title(text=title.rstrip("."))
        for paragraph in text.split("\n\n"):
            self.state.nested_parse(StringList(paragraph.splitlines(), str(script)), 0, section)
        section += nodes.image(uri=f"/images/gallery/{name}.png", alt=title)
        section += nodes.literal_block(code, code, language="python")
        return [section]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("example", Example)
    return {"parallel_read_safe": False}
