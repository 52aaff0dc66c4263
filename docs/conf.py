"""How Sphinx builds the site: `make docs` writes it to site/, and nothing is fetched."""

from __future__ import annotations

import sys
from pathlib import Path

from askew import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "askew"
author = "the askew authors"
release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_line",
    "plain_docstrings",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext"]

# Headings get the anchors that a code host gives them, so that one link serves both.
myst_heading_anchors = 4

# "--root" is an option, and is to stay one.
smartquotes = False

# What stands in single backticks is code in askew's docstrings, as it is in Markdown.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"askew {__version__}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
