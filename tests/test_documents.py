"""Code in the documents is run, document by document, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_clawperator.simulator.faults import FAULTS
from pytest_clawperator.simulator.screen.app_model import parse_app

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


def test_the_app_in_the_documents_is_one() -> None:
    """The YAML that readers copy is an app that loads."""
    text = (TOP / "docs" / "simulator.md").read_text(encoding="utf-8")
    (yaml,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)

    assert parse_app(yaml).package == "com.example.notes"


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_documented(fault: str) -> None:
    """What can go wrong on purpose is listed for those who want it to."""
    assert f"`{fault}`" in (TOP / "docs" / "simulator.md").read_text(encoding="utf-8")
