"""Every extra brings something: a package that is used, and a line in the documents."""

from __future__ import annotations

import re
from importlib.metadata import metadata, requires
from pathlib import Path

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

    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(extras())


def test_the_packages_of_an_extra_are_used() -> None:
    """What an extra installs is imported by the package."""
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (TOP / "pytest_clawperator").rglob("*.py")
    )
    for extra, packages in extras().items():
        assert packages, extra
        for name in packages if extra != "all" else ():
            module = IMPORTED_AS.get(name, name)
            use = rf"^\s*(?:from|import) {module}\b|import_module\(\"{module}|\"{module}\""
            assert re.search(use, sources, re.MULTILINE), (extra, name)
