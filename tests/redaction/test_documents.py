"""Files of JSON and XML in which secrets are hidden."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.redaction.documents import hide_in_document
from pytest_clawperator.redaction.redaction import SECRETS


@pytest.fixture(autouse=True)
def secrets() -> Iterator[None]:
    """Let a few ordinary words and numbers be secrets."""
    known = SECRETS.secrets
    for text in ("0000", "1234", "password", "true", '"x"yz"'):
        SECRETS.add(text)
    yield
    SECRETS.secrets = known


@pytest.mark.parametrize(
    ("name", "content", "hidden"),
    [
        (
            "a.json",
            r'{"ms": 30000, "text": "a 0000", "ok": true, "pin": 1234, "q": "\"x\"yz\""}',
            '{"ms": 30000, "text": "a [***]", "ok": true, "pin": "[***]", "q": "[***]"}',
        ),
        (
            "a.xml",
            "<node password=\"true\" text='my password'>true &amp; 0000<b/></node>",
            "<node password=\"[***]\" text='my [***]'>[***] &amp; [***]<b/></node>",
        ),
    ],
    ids=["json", "xml"],
)
def test_a_document_stays_valid(name: str, content: str, hidden: str) -> None:
    """Values lose their secrets; names, numbers and words of the format are left alone."""
    assert hide_in_document(content.encode(), name=name).decode() == hidden


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"ms": 30000, "text": 0000'),
        ("a.xml", "<a password='1'><!-- 0000 --></a>"),
        ("a.xml", "<a>password"),
        ("a.txt", "30000"),
    ],
)
def test_all_of_any_other_text_is_searched(name: str, content: str) -> None:
    """What is no valid document, or has more than values, has no secret anywhere."""
    hidden = hide_in_document(content.encode(), name=name).decode()

    assert hidden == content.replace("0000", "[***]").replace("password", "[***]")
