"""The benchmark of growth: its fits, its table, and the tiniest programs of each family."""

import json

import numpy as np
import pytest

from asv_benchmarks import growth, growth_child, sections
from asv_benchmarks.growth_fits import fitted
from asv_benchmarks.growth_programs import FAMILIES
from asv_benchmarks.growth_report import section
from asv_benchmarks.page import write

SIZES = (10, 100, 1000, 10_000)


def samples(family, function, quantity="seconds"):
    """A sample that is the least, and one that is not, of each size."""
    return [{"family": family, "size": n, quantity: factor * function(n)} for n in SIZES for factor in (1.0, 1.5)]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponents_are_those_of_what_grows(power):
    found = fitted(samples("chain", lambda n: 0.05 + 1e-2 * (n - 10) ** power), "seconds")["chain"]
    np.testing.assert_allclose(found.exponent, power, rtol=1e-6)
    if power == 1.0:
        np.testing.assert_allclose(found.per_unit, 1e-2)


def test_what_does_not_grow_is_flat():
    assert fitted(samples("trips", lambda n: 0.1 + 1e-7 * n), "seconds")["trips"].exponent == 0
    assert fitted(samples("trips", lambda n: 0.1)[:4], "seconds")["trips"].exponent is None  # two sizes


def test_sections_replace_each_other_and_leave_the_rest():
    page = "# A\n\n## B\n\nold\n\n## C\n\nlast\n"
    assert sections.replaced(page, "B", "new") == "# A\n\n## B\n\nnew\n\n## C\n\nlast\n"
    assert sections.replaced(page, "C", "new") == "# A\n\n## B\n\nold\n\n## C\n\nnew\n"
    assert sections.replaced(page, "D", "new") == page + "\n## D\n\nnew\n"
    assert sections.found(page, "D") is None


@pytest.mark.parametrize("name", [name for name, each in FAMILIES.items() if each.is_installed])
def test_each_family_compiles_at_its_smallest(name):
    family = FAMILIES[name]
    smallest = min(family.sizes)
    found = growth_child.measure(name, smallest)
    assert found["seconds"] > 0
    assert found["bytes"] >= 0


def test_a_run_writes_its_samples_and_a_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("asv_benchmarks.threads.restart_with", lambda *_: None)
    file = tmp_path / "growth.json"
    arguments = ["--families", "results", "model", "--quick", "--most", "50", "--json", str(file)]
    assert growth.main(arguments) == 0
    shown, found = capsys.readouterr().out, json.loads(file.read_text())
    assert [each["size"] for each in found["samples"] if each["family"] == "results"] == [5, 50]
    assert "| results | 5 to 50 |" in shown
    text = section(found)
    assert "images/growth-time.png" in text
    assert FAMILIES["model"].is_installed or "pymc is not installed" in text


def test_the_page_of_benchmarks_keeps_the_section_of_growth(tmp_path):
    page = tmp_path / "benchmarks.md"
    pytest.importorskip("matplotlib")
    page.write_text("# Old\n\n## Growth of compile time and memory\n\nkept\n")
    machine = {"processor": "a processor", "system": "a system", "python": "3.11.0", "load": 1.0}
    write({"machine": machine, "threads": 1, "versions": {}, "results": []}, page)
    assert page.read_text().endswith("## Growth of compile time and memory\n\nkept\n")
    assert "# Old" not in page.read_text()
