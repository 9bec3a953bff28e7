"""`tools/check_layers.py` finds a fault of each kind that is planted in a small package, and none in one without."""

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "check_layers.py"))
CLEAN = {
    "__init__": "from numbagraph.api.call import run\n\n__all__ = ['run']\n",
    "ir/__init__": "",
    "ir/op": "from numbagraph import forking\n",
    "forking": "",
    "tracing/__init__": "",
    "tracing/trace": "from numbagraph.ir import op\n",
    "tracing/user_code": 'FOLDERS = ("site-packages",)\n',
    "tracing/retrace": "class Retrace(Exception):\n    pass\n\n\nclass Wider(Retrace):\n    pass\n",
    "capture/__init__": "",
    "capture/syntax/__init__": "",
    "capture/syntax/names": "",
    "capture/values/__init__": "",
    "capture/values/lists": "from numbagraph.capture.syntax import names\n",
    "api/__init__": "",
    "api/call": "from numbagraph.ir import op\n",
    "ir/later": "class Later:\n    pass\n",
    "jax_bridge/__init__": "",
    "jax_bridge/translate": "",
    "jit/__init__": "",
    "jit/backends": "def compiled():\n    from numbagraph.jax_bridge.translate import translate\n",
    "library/__init__": "",
    "library/index": 'TABLE = {"loop": "numbagraph.library.loop:run"}\n',
    "library/loop": "",
}


def package(folder, files):
    root = folder / "numbagraph"
    for name, text in files.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return CHECK["Package"](root)


def faults(found):
    return [fault for rule in CHECK["RULES"] for fault in rule(found)]


def test_no_fault(tmp_path):
    assert faults(package(tmp_path, CLEAN)) == []


UPWARD = {
    "statement": "from numbagraph.api import call\n",
    "module": "import numbagraph.api.call\n",
    "relative": "from ..api import call\n",
    "in a function": "def f():\n    from numbagraph.api.call import run\n",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from numbagraph.api import call\n",
    "path": 'PATH = "numbagraph.api.call:run"\n',
    "path in a table": 'TABLE = {"run": ("numbagraph.api.call:run",)}\n',
    "module that is imported later": 'from numbagraph.ir.later import Later\ncall = Later("numbagraph.api.call")\n',
    "import_module": 'from numbagraph.forking import import_module\nimport_module("numbagraph.api.call")\n',
    "pass": 'PASSES = [GraphPass("numbagraph.api.call")]\n',
    "f-string": 'NAME = "call"\nPATH = f"numbagraph.api.{NAME}:run"\n',
    "f-string that begins with a value": 'HOME = "numbagraph"\nrun = load(f"{HOME}.api.call:run")\n',
    "sum": 'NAME = "call"\nPATH = "numbagraph.api." + NAME\n',
    "beginning": 'HOME = "numbagraph.api."\n',
}


@pytest.mark.parametrize("form", UPWARD)
def test_an_import_upward(tmp_path, form):
    found = faults(package(tmp_path, {**CLEAN, "ir/op": UPWARD[form]}))
    assert any("op.py:" in each for each in found), found


PLANTED = {
    "a circle": {"ir/op": "from numbagraph.ir import later\n", "ir/later": "from numbagraph.ir import op\n"},
    "a circle by a path": {
        "ir/op": 'PATH = "numbagraph.ir.later:Later"\n',
        "ir/later": "from numbagraph.ir import op\nclass Later: pass\n",
    },
    "a layer without a place": {"odd": ""},
    "syntax that knows values": {"capture/syntax/names": "from numbagraph.capture.values import lists\n"},
    "the library below": {"tracing/trace": 'PATH = "numbagraph.library.loop:run"\n'},
    "a bridge that another module imports": {"jit/call": "from numbagraph.jax_bridge import translate\n"},
    "a late import in a function": {"tracing/trace": "def f():\n    from numbagraph.ir import op\n"},
    "a relative import": {"tracing/trace": "from .user_code import FOLDERS\n"},
    "a large folder": {f"ir/node{number}": "" for number in range(50)},
    "a large file": {"ir/op": "x = 1\n" * 600},
    "a name that comes often": {f"{each}/rows": "" for each in ("ir", "tracing", "api")},
    "an adverb": {"tracing/possibly": ""},
    "a participle": {"tracing/held": ""},
    "an attribute of a subclass": {
        "tracing/trace": "from typing import Any\nclass Base:\n    name: Any\nclass Own(Base): pass\n"
    },
    "a private method of a subclass": {
        "tracing/trace": "class Base:\n    def _find(self):\n        raise NotImplementedError\nclass Own(Base): pass\n"
    },
    "another judge of user code": {"tracing/trace": 'is_library = lambda file: "site-packages" in file\n'},
    "another retrace": {"capture/values/lists": "class Longer(Retrace): pass\n"},
    "a name of the root": {"tracing/trace": "from numbagraph import run\n"},
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault(tmp_path, fault):
    assert faults(package(tmp_path, {**CLEAN, **PLANTED[fault]}))
