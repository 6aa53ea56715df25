"""Names of other tools: each leads to a call that can be made, and none is a name of ours."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_poll import PollAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions
from pytest_clawperator.client.batch import Batch
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.foreign_names import HintsAtNames, is_sentence
from pytest_clawperator.contracts.matchers import KEYWORDS, NodeMatcher
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.plugin.settings import WHEN
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import SHOP, Phone, client
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


def test_each_table_is_used_by_its_class_and_leads_to_calls_that_exist() -> None:
    """Our side of a row can be called, and the other side is not a name of the object itself."""
    for owner, table in TABLES.items():
        known: Any = owner
        own = {foreign_names.plain_name(name) for name in dir(owner) if not name.startswith("_")}
        assert known._their_names is table
        assert known._own_word
        assert own & set(table) == set()
        for ours in table.values():
            if not is_sentence(ours):
                check_call(f"it{ours}" if ours.startswith(".") else ours, {**SUBJECTS, "it": owner})


def test_recommended_keywords_and_option_values_are_ours() -> None:
    """Our side of a keyword is one of a click or a call; that of an option's value is allowed."""
    for ours in dict.fromkeys(foreign_names.KEYWORDS.values()):
        code = ours if ours.startswith(("claw", "expect")) else f"claw.node({ours})"
        code = f"claw.click({ours})" if ours.startswith(("at=", "timeout=")) else code

        check_call(code)
    assert set(foreign_names.WHEN.values()) <= set(WHEN)
    assert set(foreign_names.WHEN) & set(WHEN) == set()


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


CLAW = client(Phone(SHOP))
SCREEN: Snapshot = CLAW.snapshot()
TEA = SCREEN.find(text="Tea")


class Lamp(HintsAtNames):
    """Something with a name of its own and a foreign one."""

    _own_word = "lamp"
    _their_names: ClassVar = {"illuminate": ".switch_on()", "dim": "It has one brightness."}

    def switch_on(self) -> None:
        """Do nothing."""

    @property
    def broken(self) -> str:
        """Fail in a property."""
        return Lamp.no_such_thing  # type: ignore[attr-defined, no-any-return]


def said_of(owner: Any, name: str) -> str:
    """Return what is said of a name that an object does not have."""
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "illuminate",
            "'Lamp' object has no attribute 'illuminate': here it is called lamp.switch_on()",
        ),
        ("dim", "'Lamp' object has no attribute 'dim'. It has one brightness"),
        ("swich_on", "'Lamp' object has no attribute 'swich_on'. Did you mean switch_on?"),
        ("zzz", "'Lamp' object has no attribute 'zzz'"),
        ("_switch_on", "'Lamp' object has no attribute '_switch_on'"),
    ],
)
def test_each_kind_of_unknown_name_has_its_message(name: str, said: str) -> None:
    """A foreign name is translated, a near one corrected, and any other refused as usual."""
    assert said_of(Lamp(), name) == said


@pytest.mark.parametrize(
    ("owner", "name", "ours"),
    [
        (CLAW, "tap", 'claw.click(text="OK")'),
        (CLAW, "fill", 'claw.enter_text("ada@example.com", id="email")'),
        (CLAW, "get_by_text", 'claw.node(text="OK")'),
        (CLAW, "find_element", 'claw.node(id="total")'),
        (CLAW, "assertVisible", 'expect(claw.node(text="OK")).to_be_visible()'),
        (CLAW, "wait_until", 'claw.wait_for_node(text="Welcome", timeout=20)'),
        (CLAW, "press", 'claw.press_key("back")'),
        (CLAW, "clik", "Did you mean click?"),
        (CLAW, "pinch", "adb has one"),
        (CLAW.batch(), "tap", 'b.click(text="OK")'),
        (CLAW.batch(), "node", "A batch takes keywords"),
        (CLAW.node(id="row"), "send_keys", 'node(...).enter_text("ada@example.com")'),
        (CLAW.node(id="row"), "is_visible", "node(...).exists()"),
        (CLAW.device, "tap", "claw.click(at=(540, 1200))"),
        (SCREEN, "find_elements", 'snapshot.find_all(id="row")'),
        (TEA, "click", "claw.click(node)"),
        (TEA, "id", "node.resource_id"),
        (TEA, "get_attribute", "Attributes are Python's own"),
        (expect(CLAW.node(id="row")), "is_displayed", "expect(...).to_be_visible()"),
        (expect(CLAW), "to_have_text", 'expect(...).to_have_node(text="OK")'),
        (expect(SCREEN), "to_have_nod", "Did you mean to_have_node?"),
        (expect(CLAW.execute([{"type": "snapshot"}])), "to_be_ok", "to_have_succeeded()"),
        (expect.poll(lambda: 3), "to_be", "expect.poll(...).to_equal(3)"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_objects_of_a_test_know_foreign_names(owner: Any, name: str, ours: str) -> None:
    """The client, locators, expectations, snapshots, nodes, batches and devices name our call."""
    assert ours in said_of(owner, name)


@pytest.mark.parametrize(
    ("owner", "name", "ours"),
    [
        (CLAW, "timout", "Did you mean timeout?"),
        (CLAW, "implicitly_wait", "claw.timeout = 10"),
        (CLAW.device, "airplanemode", "Did you mean airplane_mode?"),
        (CLAW.device, "rotation", 'claw.device.orientation = "landscape"'),
        (CLAW.batch(), "timeouts", "Did you mean timeout?"),
        (CLAW.node(id="row"), "timeout", "cannot assign"),
        (TEA, "txt", "no attribute 'txt'"),
        (expect, "timeout", "expect.set_timeout(10)"),
        (expect.soft, "timeout", "expect.set_timeout(10)"),
        (expect(CLAW.node(id="row")), "timeout", "no attribute 'timeout'"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_does_not_exist_cannot_be_set(owner: Any, name: str, ours: str) -> None:
    """It would change nothing, without a word."""
    with pytest.raises(AttributeError, match=re.escape(ours)):
        setattr(owner, name, 30)

    assert name not in getattr(owner, "__dict__", {})


def test_what_exists_can_be_set() -> None:
    """Settings, and methods that a test replaces."""
    claw: Any = client(Phone(SHOP))

    claw.timeout = 30
    claw.matchers = "first"
    claw.pauser = lambda *_: None
    claw.snapshot = lambda: SCREEN

    assert (claw.timeout, claw.matchers, claw.snapshot()) == (30, "first", SCREEN)


def test_a_class_of_ones_own_may_have_other_attributes() -> None:
    """Page objects, for example."""

    class Page(Lamp):
        """A lamp with more to it."""

    page: Any = Page()
    page.title = "Settings"

    assert page.title == "Settings"


def test_calling_a_client_is_refused_with_our_form() -> None:
    """What uiautomator2 writes as d(text=...) is refused with our form of it."""
    claw: Any = CLAW

    with pytest.raises(ConfigurationError, match="cannot be called"):
        claw(text="OK")


def test_python_sees_no_attribute_in_a_hint() -> None:
    """``hasattr``, properties, copies and pickles work as if there were no hints."""
    tea = CLAW.node(text="Tea")

    for name in ("tap", "clik", "zzz"):
        assert not hasattr(CLAW, name)
        assert name not in dir(CLAW)
    assert "no_such_thing" in said_of(Lamp(), "broken"), "the property's own error"
    assert copy.copy(tea) == tea
    assert copy.deepcopy(tea.target) == tea.target
    assert pickle.loads(pickle.dumps(SCREEN)) == SCREEN
    assert pickle.loads(pickle.dumps(TEA)).label == "Tea"
