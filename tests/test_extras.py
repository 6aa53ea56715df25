"""Every extra brings something: a package that is used, and a line that says for what."""

from __future__ import annotations

import re
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
PACKAGE = "pytest-clawperator"
# Distributions that are imported by another name.
IMPORTED_AS = {"pytest-xdist": "xdist", "allure-pytest": "allure_commons"}


def extras() -> dict[str, list[str]]:
    """Return the distributions of each extra."""
    found: dict[str, list[str]] = {
        extra: [] for extra in metadata(PACKAGE).get_all("Provides-Extra") or ()
    }
    for line in requires(PACKAGE) or ():
        named = re.fullmatch(r"([\w.-]+).*extra == ['\"](\w+)['\"].*", line)
        if named is not None:
            found[named[2]].append(named[1])
    return found


def test_every_extra_is_documented() -> None:
    """The table of extras has each of them, and no other."""
    text = (TOP / "docs" / "faq.md").read_text(encoding="utf-8")
    table = text.partition("## Which extras are there?")[2].partition("\n## ")[0]

    told = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)

    assert sorted(told) == sorted(extras())


@pytest.mark.parametrize("extra", [one for one in extras() if one != "all"])
def test_the_packages_of_an_extra_are_used(extra: str) -> None:
    """What an extra installs is imported by the package."""
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (TOP / "pytest_clawperator").rglob("*.py")
    )

    unused = [
        name
        for name in extras()[extra]
        if not re.search(
            rf"^\s*(?:from|import) {IMPORTED_AS.get(name, name)}\b"
            rf"|import_module\(\"{IMPORTED_AS.get(name, name)}|\"{IMPORTED_AS.get(name, name)}\"",
            sources,
            re.MULTILINE,
        )
    ]

    assert extras()[extra]
    assert unused == []
