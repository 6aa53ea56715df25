"""How the documents become pages: ``make docs``."""

from __future__ import annotations

project = "pytest-clawperator"
author = "The pytest-clawperator authors"
html_title = project
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 3

html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
