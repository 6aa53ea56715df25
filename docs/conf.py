"""How the documents become pages: ``make docs``."""

from __future__ import annotations

import re
from typing import Any

project = "pytest-clawperator"
author = "The pytest-clawperator authors"
html_title = project
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    # What others made is in their own documents.
    "inherited-members": "BaseModel, BaseException, Exception, Warning, str, tuple, dict, list",
    # What the package itself knows of its models.
    "exclude-members": "example, guesses, model_config, model_post_init, spec",
}
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("TargetLike", "Payload", "Matchers", "Way")}
python_maximum_signature_line_length = 88

html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]


def setup(app: Any) -> None:
    """Show the examples of docstrings as code, and aliases by their names."""
    app.connect("autodoc-process-docstring", _mark_examples)
    app.connect("autodoc-process-signature", _name_aliases)


def _name_aliases(
    app: Any, kind: str, name: str, what: Any, options: Any, signature: Any, returns: Any
) -> tuple[Any, Any]:
    """Return the signature with aliases by their names alone."""
    wrapped = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return signature and wrapped.sub(r"\1", signature), returns and wrapped.sub(r"\1", returns)


def _mark_examples(app: Any, kind: str, name: str, what: Any, options: Any, lines: Any) -> None:
    """Mark what is indented by four spaces, after an empty line, as code; in place, as asked."""
    marked: list[str] = []
    for line in lines:
        above = marked[-2:] if len(marked) > 1 else ["", *marked]
        is_first = above[-1] == "" and not above[0].startswith("    ")
        if line.startswith("    ") and is_first and not above[0].endswith("::"):
            marked += [".. code-block:: python", ""]
        marked.append(line)
    lines[:] = marked
