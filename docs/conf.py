# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx builds the site: ``make docs``, result in ``docs/_build/html``.

The pages work offline: no font, script or picture comes from another host, formulas are
text, and no inventory of another project is loaded.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import tiebreak

if TYPE_CHECKING:
    from docutils.nodes import Element, document
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "tiebreak"
author = "The tiebreak developers"
copyright = author
version = release = tiebreak.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "api_names",
    "command_reference",
    "outside_pages",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = True
nitpick_ignore = [
    # An attribute that holds a type of NumPy, whose documentation is not asked for.
    ("py:class", "numpy.float64"),
]

# Pages are Markdown that also reads well where no site is built.
myst_heading_anchors = 4
# Commands and formulas stand in blocks without a language, and are no Python.
highlight_language = "text"

# Docstrings: types stand in the text, single backticks are code, and what every
# scikit-learn estimator has is not said again for each.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator, Exception, int, tuple",
    "exclude-members": ", ".join(
        [
            "get_metadata_routing",
            "get_params",
            "set_params",
            "set_output",
            "set_decision_function_request",
            "set_fit_request",
            "set_partial_fit_request",
            "set_predict_log_proba_request",
            "set_predict_proba_request",
            "set_predict_request",
            "set_score_request",
            "set_split_request",
            "set_transform_request",
        ]
    ),
}
autosummary_generate = False
numpydoc_show_class_members = False
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

# What is copied from an example is what one would type.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "tiebreak"
html_static_path = ["_static"]
html_css_files = ["calm.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_logo": "wordmark.svg",
    "dark_logo": "wordmark-dark.svg",
    "sidebar_hide_name": True,
    "top_of_page_buttons": [],
    "light_css_variables": {
        "color-brand-primary": "#0b6e69",
        "color-brand-content": "#0b6e69",
        "color-brand-visited": "#5b4a8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5fc7bf",
        "color-brand-content": "#5fc7bf",
        "color-brand-visited": "#b9a7e6",
    },
}


def _trim_examples(app: "Sphinx", doctree: "document") -> None:
    """Drop the blank line with which examples end, because doctest needs it."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block.children = [nodes.Text(block.rawsource)]


def _find_public_name(
    app: "Sphinx", env: "BuildEnvironment", node: "pending_xref", text: "Element"
) -> "Element | None":
    """Let every docstring call a name of ``tiebreak`` by that name alone."""
    name = node.get("reftarget")
    if node.get("refdomain") != "py" or name not in tiebreak.__all__:
        return None
    page, full = node["refdoc"], f"tiebreak.{name}"
    return env.domains["py"].resolve_xref(
        env, page, app.builder, node["reftype"], full, node, text
    )


def setup(app: "Sphinx") -> None:
    """Register with Sphinx what is too small for an extension."""
    app.connect("missing-reference", _find_public_name)
    app.connect("doctree-read", _trim_examples)
