"""How the site is built: ``make docs`` writes it into ``out/site``, warnings are errors.

The gallery of examples is made of ``examples/plot_*.py``. They are run only if
``SETWISE_RUN_GALLERY`` is set (``make docs`` sets it): tests run them anyway.
"""

from __future__ import annotations

import os
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import PackageLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # for the modules beside this one
EXAMPLES = ROOT / "examples"

project = "setwise"
author = "The setwise developers"
copyright = f"2026, {author}"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "api_pages",
    "mathml",
]
exclude_patterns = [
    "_templates",
    "gallery/*.py",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
root_doc = "index"
highlight_language = "none"  # fences without a name are commands and folders

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 4
# Hidden notes such as "<!-- not run: ... -->" are for tests/docs.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# numpydoc would compile its template again for each of 1,600 docstrings.
_environment = cache(lambda: SandboxedEnvironment(loader=PackageLoader("numpydoc")))
docscrape_sphinx.SandboxedEnvironment = lambda loader: _environment()

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "setwise"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_search_scorer = str(ROOT / "docs" / "_static" / "scorer.js")
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options: dict[str, Any] = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "setwise",
    },
    "navbar_start": ["navbar-logo", "version"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_depth": 2,  # deeper ones make every page slower to build and to read
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "start": [], "faq": []}
if os.environ.get("SETWISE_PLAIN_SITE"):  # the tests look for warnings and broken links only
    html_theme, html_theme_options, html_sidebars = "basic", {}, {}

# A checkout without examples (a release from source) still has a page of that name.
no_examples = ROOT / "docs" / "gallery" / "index.md"
if not any(EXAMPLES.glob("plot_*.py")):
    no_examples.parent.mkdir(exist_ok=True)
    no_examples.write_text("# Examples\n\nThere are none in this checkout.\n", encoding="utf-8")
else:
    no_examples.unlink(missing_ok=True)
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf: dict[str, Any] = {
        "examples_dirs": str(EXAMPLES),
        "gallery_dirs": "gallery",
        "filename_pattern": r"plot_.*\.py$",
        "ignore_pattern": r"^(?!plot_)",
        "plot_gallery": bool(os.environ.get("SETWISE_RUN_GALLERY")),
        "abort_on_example_error": True,
        "within_subsection_order": "gallery_order.JobsFirst",
        "remove_config_comments": True,
        "min_reported_time": 1e9,  # seconds differ from build to build
        "show_memory": False,
        "download_all_examples": False,
        "show_signature": False,
    }
