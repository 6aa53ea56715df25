"""Roles that no snapshot has are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.assertions.checks import value_of
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ConfigurationError, StepFailedError
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client


def test_a_role_that_only_the_device_knows_is_refused() -> None:
    """A locator by a role that snapshots do not have would never find a node."""
    with pytest.raises(ConfigurationError, match="does not show which nodes are"):
        assertions({"role": "listitem"})


def test_a_title_is_looked_for_in_its_toolbar() -> None:
    """Outlines have titles, and the error says how to match one."""
    with pytest.raises(ConfigurationError, match="a text in a toolbar"):
        assertions({"role": "title"})


@pytest.mark.parametrize(
    ("role", "message"), [("swich", "Did you mean switch"), ("listitem", "does not show")]
)
def test_roles_are_checked_in_every_part_of_a_locator(role: str, message: str) -> None:
    """A wrong role is refused in a container and in has= too."""
    claw = client(Phone(FORM))
    locators = [
        claw.node(role=role),
        claw.node(role=role).node(text="Pay"),
        claw.node(id="row", has=claw.node(role=role)),
    ]

    for locator in locators:
        with pytest.raises(ConfigurationError, match=message):
            Expect()(locator).not_to_be_visible()


def read(claw: Clawperator, label: str) -> str | None:
    """Read a value on the device, once; return None if there is none."""
    try:
        return claw.read_value(label=label, timeout=0)
    except StepFailedError as error:
        if error.code != "VALUE_NODE_NOT_FOUND":
            raise
        return None


def test_values_are_those_that_the_device_reads(real_expect: Expect, claw: Clawperator) -> None:
    """The value found beside a label is the one that the Operator finds."""
    claw.close_app("com.android.settings")
    claw.open_app("com.android.settings")
    claw.scroll_and_click(text="About phone")
    real_expect(claw.node(text="Android version")).to_be_visible()
    labels = [node for node in claw.snapshot().find_all(id="title") if node.label]

    found = {label.label: value_of(label) for label in labels}

    assert found == {text: read(claw, text) for text in found}
    assert None in found.values()
    real_expect(claw.node(text="Android version")).to_have_value(found["Android version"] or "")


Hold = Callable[[LocatorAssertions], None]


TRUE: list[tuple[dict[str, Any], str, tuple[Any, ...], dict[str, Any]]] = [
    ({"text": "Sign in"}, "to_be_visible", (), {}),
    ({"text": "Away"}, "to_be_hidden", (), {}),
    ({"text": "Nowhere"}, "to_be_hidden", (), {}),
    ({"text": "Away"}, "to_exist", (), {}),
    ({"id": "name"}, "to_be_enabled", (), {}),
    ({"id": "pay"}, "to_be_disabled", (), {}),
    ({"id": "wifi"}, "to_be_checked", (), {}),
    ({"id": "name"}, "to_be_focused", (), {}),
    ({"id": "home"}, "to_be_selected", (), {}),
    ({"text": "Half"}, "to_be_in_viewport", (), {}),
    ({"text": "Half"}, "to_be_in_viewport", (), {"ratio": 0.5}),
    ({"id": "heading"}, "to_have_text", ("Sign in",), {}),
    ({"id": "search"}, "to_have_text", ("Search",), {}),
    ({"id": "heading"}, "to_have_text", (re.compile("^sign", re.IGNORECASE),), {}),
    ({"role": "switch"}, "to_have_text", (["Wi-Fi", re.compile("Sou")],), {}),
    ({"id": "heading"}, "to_contain_text", ("gn i",), {}),
    ({"role": "switch"}, "to_contain_text", (["ound"],), {}),
    ({"id": "search"}, "to_have_desc", ("Search",), {}),
    ({"id": "pay"}, "to_have_role", ("button",), {}),
    ({"role": "switch"}, "to_have_count", (2,), {}),
    ({"text": "Nowhere"}, "to_have_count", (0,), {}),
    ({"text": "Version"}, "to_have_value", ("16",), {}),
    ({"id": "row"}, "to_have_value", (re.compile(r"^\d+$"),), {}),
    ({"id": "name"}, "to_have_value", ("ada",), {}),
]


FALSE: list[tuple[dict[str, Any], str, tuple[Any, ...], dict[str, Any], str]] = [
    ({"text": "Nowhere"}, "to_be_visible", (), {}, "found no match"),
    ({"text": "Away"}, "to_be_visible", (), {}, "found off-screen"),
    ({"text": "Sign in"}, "to_be_hidden", (), {}, "found visible"),
    ({"text": "Nowhere"}, "to_exist", (), {}, "found no match"),
    ({"id": "pay"}, "to_be_enabled", (), {}, "found disabled"),
    ({"id": "name"}, "to_be_disabled", (), {}, "found enabled"),
    ({"id": "sound"}, "to_be_checked", (), {}, "found unchecked"),
    ({"id": "pay"}, "to_be_focused", (), {}, "found not focused"),
    ({"id": "pay"}, "to_be_selected", (), {}, "found not selected"),
    ({"text": "Half"}, "to_be_in_viewport", (), {"ratio": 0.6}, "found 50% of it in the viewport"),
    ({"text": "Away"}, "to_be_in_viewport", (), {}, "found off-screen"),
    ({"id": "heading"}, "to_have_text", ("Sign up",), {}, 'found "Sign in"'),
    ({"role": "switch"}, "to_have_text", (["Wi-Fi"],), {}, 'found ["Wi-Fi", "Sound"]'),
    ({"id": "heading"}, "to_contain_text", ("gn I",), {}, 'found "Sign in"'),
    ({"role": "switch"}, "to_contain_text", (["Sound", "Wi-Fi"],), {}, '["Wi-Fi", "Sound"]'),
    ({"id": "search"}, "to_have_desc", ("Find",), {}, 'found "Search"'),
    ({"id": "pay"}, "to_have_role", ("switch",), {}, "found button"),
    ({"role": "switch"}, "to_have_count", (3,), {}, "found 2 nodes"),
    ({"text": "Version"}, "to_have_value", ("15",), {}, 'found "16"'),
]


@pytest.mark.parametrize(("matcher", "check", "args", "options"), TRUE)
def test_a_check_that_holds_passes_and_its_opposite_fails(
    matcher: dict[str, Any], check: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """A check passes if it is so, and then its opposite fails."""
    expected = assertions(matcher)

    getattr(expected, check)(*args, **options)
    message = failure(lambda: getattr(expected, f"not_{check}")(*args, **options))

    assert f" not {check.split('_')[0]} " in message


@pytest.mark.parametrize(("matcher", "check", "args", "options", "found"), FALSE)
def test_a_check_that_does_not_hold_fails_and_its_opposite_passes(
    matcher: dict[str, Any],
    check: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    found: str,
) -> None:
    """A check fails if it is not so, and names what was found; then its opposite passes."""
    expected = assertions(matcher)

    message = failure(lambda: getattr(expected, check)(*args, **options))
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in message.split("\n")[0]


@pytest.mark.parametrize(
    ("check", "args"),
    [
        ("to_be_enabled", ()),
        ("to_be_checked", ()),
        ("to_be_focused", ()),
        ("to_be_selected", ()),
        ("to_have_text", ("x",)),
        ("to_contain_text", ("x",)),
        ("to_have_desc", ("x",)),
        ("to_have_role", ("button",)),
        ("to_have_value", ("x",)),
    ],
)
def test_a_state_of_an_absent_node_fails_both_ways(check: str, args: tuple[Any, ...]) -> None:
    """A check of a node's state fails, negated or not, if the node is absent."""
    expected = assertions({"text": "Nowhere"})

    message = [failure(partial(getattr(expected, name), *args)) for name in (check, f"not_{check}")]

    assert all("found no match" in text for text in message)


def test_what_cannot_be_checked_is_neither_on_nor_off() -> None:
    """A node that cannot be checked fails to_be_checked, negated or not."""
    expected = assertions({"id": "heading"})

    for hold in (expected.to_be_checked, expected.not_to_be_checked):
        assert "found a text that cannot be checked" in failure(hold)


@pytest.mark.parametrize(
    ("hold", "complaint"),
    [
        (lambda e: e.to_have_text(3), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text(re.compile(b"x")), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text([b"x"]), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_count(-1), "a count is a whole number"),
        (lambda e: e.to_have_count(True), "a count is a whole number"),
        (lambda e: e.to_have_role("buton"), "Did you mean 'button'"),
        (lambda e: e.to_have_role("listitem"), "snapshots have no role"),
        (lambda e: e.to_be_in_viewport(ratio=2), "ratio= must be more than 0"),
        (lambda e: e.to_be_visible(timeout=-1), "timeout= must be a number"),
    ],
)
def test_a_wrong_argument_is_refused_before_looking(hold: Hold, complaint: str) -> None:
    """An argument that makes no sense is refused before the first look."""
    with pytest.raises(ConfigurationError, match=complaint):
        hold(assertions({"id": "pay"}))


PROMPT = "com.android.permissioncontroller"


def device(**data: str) -> Clawperator:
    """Return a client whose snapshots have these data."""
    return client(Phone(data={"snapshot_ui": {"text": SHOP, **data}}), timeout=0.1)


def test_the_app_in_front_is_compared_by_package(expect: Expect) -> None:
    """The snapshot names the app in front; a failure names what was found."""
    claw = client(Phone(SHOP))

    expect(claw).to_be_in_app(PACKAGE)
    expect(claw).not_to_be_in_app("com.other")
    message = failure(lambda: expect(claw).to_be_in_app("com.other", timeout=0.02))

    assert f"expected the screen to be in app com.other, found {PACKAGE}\n" in message
    assert f"  waited: 2 × {PACKAGE} in 20 ms\n" in message


def test_a_window_over_the_app_fails_with_its_package(expect: Expect) -> None:
    """A failure names the package of the window over the app, and what to do."""
    free, covered = device(has_overlay="false"), device(has_overlay="true", overlay_package=PROMPT)

    expect(free).to_have_no_overlay()
    expect(covered).not_to_have_no_overlay()
    message = failure(expect(covered).to_have_no_overlay)

    assert f"expected the screen to have no overlay, found a window of {PROMPT}\n" in message
    assert f"hint: Answer or close the window of {PROMPT} first." in message


@pytest.mark.parametrize("check", ["to_have_no_overlay", "not_to_have_no_overlay"])
def test_an_unknown_overlay_fails_both_ways(expect: Expect, check: str) -> None:
    """Without a word about overlays, neither check of them holds."""
    message = failure(getattr(expect(device()), check))

    assert "found no information about overlays" in message


@pytest.mark.parametrize("package", [5, "", None])
def test_a_package_that_is_no_text_is_refused(expect: Expect, package: Any) -> None:
    """An argument that cannot be a package is a mistake of the test."""
    with pytest.raises(ConfigurationError, match="named by its package"):
        expect(client(Phone(SHOP))).not_to_be_in_app(package)
