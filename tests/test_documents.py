"""Code in the documents is run, document by document, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
DOCUMENTS = sorted([TOP / "README.md", *(TOP / "docs").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_code_runs(document: Path) -> None:
    """Each document's Python blocks run in one namespace, in the order they are read."""
    text = document.read_text(encoding="utf-8")
    namespace: dict[str, object] = {}

    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        # Blank lines in front make tracebacks show the document's own line numbers.
        above = "\n" * text.count("\n", 0, block.start(1))
        exec(compile(above + block[1], str(document), "exec"), namespace)

    assert blocks or "```python" not in text


@pytest.mark.parametrize(
    "document", [*DOCUMENTS, TOP / "CONTRIBUTING.md", TOP / "CHANGELOG.md"], ids=lambda p: p.stem
)
def test_links_lead_somewhere(document: Path) -> None:
    """A link to a file names a file that is there."""
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8"))

    broken = [link for link in links if "://" not in link and not (document.parent / link).exists()]

    assert broken == []
