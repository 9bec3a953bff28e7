"""The page of a compiled function: whole, on its own, and in step with what `explain` and `profile` say."""

from __future__ import annotations

import linecache
import pickle
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

from numbagraph import grad, graph_jit, profile
from tests.support.html import Reader

X = np.linspace(0.1, 3.0, 300)
ORDER = np.arange(300)[::-1].copy()
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@graph_jit
def shown(x, order, n):
    y = x[order] * 2.0
    for i in range(n):
        y = np.log(np.exp(y)) + x / (i + 1)
        if np.sum(y) > 5:
            y = y - np.mean(y)
    return y, np.sort(y), x[::-1].copy()


ARGUMENTS = X, ORDER, 4


@pytest.fixture(scope="module")
def page():
    return shown.explain(*ARGUMENTS).to_html()


def test_it_is_whole_and_loads_nothing(page):
    found = Reader(page)
    assert {"table", "section", "ol", "script", "style"} <= found.tags
    assert not re.search(r"(src|href)\s*=|https?:|@import|url\(", page)
    assert "default-src 'none'" in page


def test_it_shows_each_pass_types_and_lines(page):
    stages = shown.stages(*ARGUMENTS)
    assert page.count("<section ") == len(stages)
    assert page.count(" hidden>") == len(stages) - 1
    text = Reader(page).text
    for graph in stages.values():
        for line in str(graph).splitlines():
            assert line.partition("  # ")[0].strip() in text
    assert "float64 300, 2.3 KiB" in text
    assert "y = np.log(np.exp(y)) + x / (i + 1)" in text
    assert 'data-line="test_viewer.py:' in page


def test_it_marks_what_a_pass_changes():
    function = graph_jit(lambda x: np.log(np.exp(x)) + 1)
    page = function.explain(X).to_html()
    sections = re.findall(r"<section.*?</section>", page, re.DOTALL)
    (replaced,) = [place for place, each in enumerate(sections) if "goes" in each]
    (made,) = [place for place, each in enumerate(sections) if 'class="new' in each]
    assert made == replaced + 1
    unchanged = graph_jit(lambda x: x + 1.5).explain(X).to_html()
    assert 'class="new"' not in unchanged
    assert 'class="goes"' not in unchanged


def marks(function, *arguments):
    return re.findall(r'class="mark (\w+)"', function.explain(*arguments).to_html())


def test_it_marks_gathers_scatters_copies_and_fills():
    assert marks(graph_jit(lambda x, i: x[i] + 1), X, ORDER) == ["gather"]
    assert marks(graph_jit(lambda x: x[::-1].copy()), X) == ["copy"]
    assert marks(graph_jit(lambda x: np.zeros_like(x)), X) == ["fill"]
    assert marks(graph_jit(lambda x: x * 2), X) == []

    assert marks(graph_jit(lambda x, i: np.bincount(i, x, 5)), X, ORDER % 5)[-1] == "scatter"


def test_a_profile_has_the_times_that_its_table_has():
    found = profile(shown, *ARGUMENTS)
    text = Reader(found.to_html()).text
    for row in found.rows:
        assert row[3] in text
    assert found.title in text


def test_several_programs_and_derivatives():
    assert "Program 2 of 2" in graph_jit(lambda x: np.cumsum(x[x > 1])).explain(X).to_html()
    Reader(grad(lambda x: np.sum(shown(x, ORDER, 2)[0])).explain(X).to_html())
    assert "Program 2 of 2" in profile(lambda x: np.cumsum(x[x > 1]), X).to_html()


def test_text_that_looks_like_html():
    page = graph_jit(lambda x: ({"<script>": x}["<script>"]) + 1).explain(X).to_html()
    assert page.count("<script>") == 1
    assert "&lt;lambda&gt;" in page


def test_cells_of_a_notebook(monkeypatch):
    file, source = "/tmp/ipykernel_1/234.py", "def f(x):\n    return np.cumsum(x) + 1\n"
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name={file: ("Cell", "In[7]")}.get))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(linecache.cache, file, (len(source), None, source.splitlines(keepends=True), file))
    space = {"np": np}
    exec(compile(source, file, "exec"), space)
    function = graph_jit(space["f"])
    assert "# Cell In[7], line 2" in str(function.graph(X))
    page = function.explain(X).to_html()
    assert "<h3>Cell In[7]</h3>" in page
    assert page.count('data-line="Cell In[7], line 2"') > 2
    assert "ipykernel" not in page


def test_it_is_written_to_a_file(tmp_path, page):
    path = tmp_path / "page.html"
    assert shown.explain(*ARGUMENTS).to_html(path) == path.read_text(encoding="utf-8")
    assert page == path.read_text(encoding="utf-8")


def test_an_explanation_is_a_text_that_can_be_pickled():
    text = shown.explain(*ARGUMENTS)
    assert pickle.loads(pickle.dumps(text)) == text


CLICKED = """<script>
const wrong = [];
window.onerror = (text) => wrong.push(text);
all("nav button")[0].click();
const open = all("section").filter((each) => !each.hidden);
all(".graph li[data-line]", open[0])[0].click();
document.body.dataset.result = [wrong.length, open.length, open[0].dataset.pass,
  all(".source .hot").length, all(".graph .hot", open[0]).length > 0].join(" ");
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_in_a_browser(tmp_path, page):
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", CLICKED), encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom")
    found = subprocess.run([BROWSER, *options, path.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    assert re.findall(r'data-result="(.*?)"', found.stdout) == ["0 1 0.0 1 true"]
