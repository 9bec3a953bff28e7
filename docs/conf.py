"""Sphinx's settings: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import numbagraph

project = "numbagraph"
author = "numbagraph developers"
release = version = numbagraph.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "gallery",
    "namespaces",
    "repository",
]
exclude_patterns = ["extensions"]
html_theme = "furo"
html_title = f"numbagraph {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["tables.css"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
default_role = "code"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_typehints = "none"  # numpydoc sections say it
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
