"""Names of other tools: each leads to a call that can be made, and none is a name of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_poll import PollAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions
from pytest_clawperator.client.batch import Batch
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.contracts.selectors import KEYWORDS, NodeMatcher
from pytest_clawperator.contracts.text import foreign_names
from pytest_clawperator.contracts.text.unknown_names import is_sentence
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.plugin.settings import WHEN
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.written_calls import SUBJECTS, check_call

TABLES: dict[type, Mapping[str, str]] = {
    Clawperator: foreign_names.CLIENT,
    Batch: foreign_names.BATCH,
    Locator: foreign_names.LOCATOR,
    LocatorAssertions: foreign_names.EXPECT,
    ScreenAssertions: foreign_names.EXPECT_SCREEN,
    EnvelopeAssertions: foreign_names.EXPECT_ENVELOPE,
    PollAssertions: foreign_names.EXPECT_POLL,
    Snapshot: foreign_names.SNAPSHOT,
    Node: foreign_names.NODE,
    Device: foreign_names.DEVICE,
}
ROWS = [
    pytest.param(owner, ours, id=f"{owner.__name__}-{ours[:40]}")
    for owner, table in TABLES.items()
    for ours in dict.fromkeys(table.values())
    if not is_sentence(ours)
]


@pytest.mark.parametrize(("owner", "ours"), ROWS)
def test_what_is_recommended_can_be_called(owner: Any, ours: str) -> None:
    """Our side of a row names methods and arguments that exist."""
    code = f"it{ours}" if ours.startswith(".") else ours

    check_call(code, {**SUBJECTS, "it": owner})


@pytest.mark.parametrize("owner", TABLES)
def test_no_name_of_ours_is_called_foreign(owner: type) -> None:
    """A table has no name that the object itself has: it would never be asked for."""
    own = {foreign_names.plain(name) for name in dir(owner) if not name.startswith("_")}

    assert own & set(TABLES[owner]) == set()


@pytest.mark.parametrize("owner", TABLES)
def test_each_table_is_used_by_its_class(owner: Any) -> None:
    """The class that a table is about looks names up in it."""
    assert owner._their_names is TABLES[owner]
    assert owner._own_word


@pytest.mark.parametrize("ours", dict.fromkeys(foreign_names.KEYWORDS.values()))
def test_recommended_keywords_are_ours(ours: str) -> None:
    """Our side of a keyword is a keyword of a click or a call that can be made."""
    code = ours if ours.startswith(("claw", "expect")) else f"claw.node({ours})"
    code = f"claw.click({ours})" if ours.startswith(("at=", "timeout=")) else code

    check_call(code)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("resource_id", "id='total'"),
        ("resourceId", "id='total'"),
        ("textContains", "text_contains"),
        ("content_desc", "desc='Search'"),
        ("descriptionContains", "desc_contains='Sea'"),
        ("timeout_ms", "timeout=5"),
    ],
)
def test_a_foreign_keyword_is_translated(name: str, ours: str) -> None:
    """A matcher's keyword of another tool gets ours, and all others in its hint."""
    with pytest.raises(ConfigurationError) as caught:
        NodeMatcher.of(**{name: "x"})

    assert ours in (caught.value.hint or "")
    assert f"Nodes are matched by {', '.join(KEYWORDS)}" in (caught.value.hint or "")


def test_recommended_option_values_are_allowed() -> None:
    """Our side of an option's value is one that the option takes."""
    assert set(foreign_names.WHEN.values()) <= set(WHEN)
    assert set(foreign_names.WHEN) & set(WHEN) == set()
