"""Checks of nodes and screens: what holds, what does not, and what cannot be checked."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.assertions.checks import value_of
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ConfigurationError, ExecutionsOnlyError, StepFailedError
from tests.doubles.device import scripted
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, node, screen


@pytest.mark.parametrize(
    ("role", "message"),
    [
        ("swich", "Did you mean switch"),
        ("listitem", "does not show which nodes are"),
        ("title", "a text in a toolbar"),
    ],
)
def test_roles_that_no_snapshot_has_are_refused(role: str, message: str) -> None:
    """They would never match; also in a container and in has=."""
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
    """The failure of the opposite is negated."""
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
    """The failure names what was found."""
    expected = assertions(matcher)

    message = failure(lambda: getattr(expected, check)(*args, **options))
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in message.split("\n")[0]


STATES = {
    **dict.fromkeys(["to_be_enabled", "to_be_checked", "to_be_focused", "to_be_selected"], ()),
    **dict.fromkeys(["to_have_text", "to_contain_text", "to_have_desc", "to_have_value"], ("x",)),
    "to_have_role": ("button",),
    "to_be_in_viewport": (),
}
LISTS = {"to_have_text": (["x"],), "to_contain_text": (["x"],)}


@pytest.mark.parametrize(
    ("matcher", "check", "args", "found"),
    [
        *[
            ({"text": "Nowhere"}, check, args, "found no match")
            for check, args in [*STATES.items(), *LISTS.items()]
        ],
        *[
            ({"text": "Away"}, check, args, "found off-screen")
            for check, args in [*STATES.items(), *LISTS.items()]
            if check != "to_be_in_viewport"
        ],
        ({"id": "heading"}, "to_be_checked", (), "found a text that cannot be checked"),
    ],
)
def test_a_state_that_a_node_does_not_have_fails_both_ways(
    matcher: dict[str, Any], check: str, args: tuple[Any, ...], found: str
) -> None:
    """A check of it fails, negated or not."""
    expected = assertions(matcher)

    for name in (check, f"not_{check}"):
        assert found in failure(partial(getattr(expected, name), *args))


NO_TEXT = "a text, a pattern or a list of them"
EVERY_TEXT = "is found in every text"
NO_COUNT, NO_RATIO = "a count is a whole number", "ratio= must be more than 0"
WRONG: dict[str, list[tuple[Any, str]]] = {
    "to_have_text": [
        *[(odd, NO_TEXT) for odd in (None, 3, True, b"x", {"a"}, re.compile(b"x"), [b"x"], [None])],
        *[(re.compile(odd), EVERY_TEXT) for odd in ("", ".*", r"\d*", "x?", "(a|)", "(?s:.*)")],
        ([re.compile("")], EVERY_TEXT),
        *[(re.compile(odd), "is found in no text") for odd in ("(?!)", "^(?!)$", r"[^\s\S]")],
        ([], r"Write to_have_count\(0\)"),
        ((), r"Write to_have_count\(0\)"),
    ],
    "to_contain_text": [
        *[(odd, NO_TEXT) for odd in (None, 3, [3])],
        ("", "every text contains the empty text"),
        (["Pay", ""], "every text contains the empty text"),
        ([], r"Write to_have_count\(0\)"),
        (re.compile(r"\s*"), EVERY_TEXT),
    ],
    "to_have_desc": [(None, NO_TEXT), (["x"], "one text or pattern"), (re.compile(""), EVERY_TEXT)],
    "to_have_value": [(5, NO_TEXT), (["x"], "one text or pattern"), (re.compile(""), EVERY_TEXT)],
    "to_have_count": [
        *[(odd, NO_COUNT) for odd in (None, -1, 1.5, 2.0, True, "3", b"", float("nan"))],
    ],
    "to_have_role": [
        ("buton", "Did you mean 'button'"),
        *[(odd, "snapshots have no role") for odd in ("listitem", "", None, 5, True)],
    ],
}


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [(check, value, said) for check, rows in WRONG.items() for value, said in rows],
)
def test_a_wrong_value_is_refused(check: str, value: Any, message: str) -> None:
    """Before the first snapshot, and for the opposite as well, which would always hold."""
    for name in (check, f"not_{check}"):
        with pytest.raises(ConfigurationError, match=message):
            getattr(assertions({"id": "pay"}), name)(value)


CHECKS = [name for name in vars(LocatorAssertions) if name.startswith(("to_", "not_to_"))]
FITTING = {"text": ("Pay",), "desc": ("x",), "role": ("button",), "count": (1,), "value": ("x",)}


@pytest.mark.parametrize("check", CHECKS)
def test_a_wrong_option_is_refused(check: str) -> None:
    """Every check refuses a timeout that is none, and a ratio that is no part."""
    args = FITTING.get(check.rpartition("_")[2], ())
    hold = partial(getattr(assertions({"id": "pay"}), check), *args)

    for timeout in (-1, "5", True, float("nan"), float("inf"), 3600, b""):
        with pytest.raises(ConfigurationError, match=r"timeout= (must be a number|is at most)"):
            hold(timeout=timeout)
    for ratio in (0, -0.5, 2, 1.01, True, "half", float("nan")) if "viewport" in check else ():
        with pytest.raises(ConfigurationError, match=NO_RATIO):
            hold(ratio=ratio)


@pytest.mark.parametrize("pattern", ["^$", r"^\d*$", "^(Sign|Pay)?$", r"\A\s*\Z"])
def test_a_pattern_that_only_some_texts_match_is_taken(pattern: str) -> None:
    """An empty text may match it: it is not found in every text."""
    empty = assertions({"id": "home"}, screen(node(id="home", kind="EditText")))

    empty.to_have_text(re.compile(pattern))
    empty.to_have_text("")
    assertions({"id": "heading"}).not_to_have_text(re.compile(pattern))


PROMPT = "com.android.permissioncontroller"


def device(**data: str) -> Clawperator:
    """Return a client whose snapshots have these data."""
    return client(Phone(data={"snapshot_ui": {"text": SHOP, **data}}), timeout=0.1)


def test_the_app_in_front_is_compared_by_package(expect: Expect) -> None:
    """The snapshot names the app in front; a failure names what was found.

    An app that is not there is never in front, so that the opposite is a mistake.
    """
    claw = client(Phone(SHOP))

    expect(claw).to_be_in_app(PACKAGE)
    expect(claw).not_to_be_in_app("com.other")
    message = failure(lambda: expect(claw).to_be_in_app("com.other", timeout=0.02))
    with pytest.raises(ConfigurationError, match=r"com\.othr is not installed.*\n.*com\.other'\?"):
        expect(claw).not_to_be_in_app("com.othr")

    assert f"expected the screen to be in app com.other, found {PACKAGE}\n" in message
    assert f"  waited: 2 × {PACKAGE} in 20 ms\n" in message


def test_an_app_that_was_in_front_need_not_be_installed_any_more(expect: Expect) -> None:
    """The test saw it, so its name is right; and a device without a shell cannot be asked."""
    claw, remote = client(Phone(SHOP)), client(Phone(SHOP))
    refusal = ExecutionsOnlyError("no shell")
    claw.device = remote.device = scripted({re.compile(".*"): refusal})
    claw.performer.apps.seen.in_front.add("com.example.seen")

    expect(claw).not_to_be_in_app("com.example.seen")
    expect(remote).not_to_be_in_app("com.example.unknown")


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
    """If the snapshot does not report overlays, neither check of them holds."""
    message = failure(getattr(expect(device()), check))

    assert "found no information about overlays" in message


@pytest.mark.parametrize("package", [5, "", None, "Settings", "com.example.shop ", "com..shop"])
def test_an_invalid_package_is_refused(expect: Expect, package: Any) -> None:
    """An argument that cannot be a package is a mistake of the test."""
    with pytest.raises(ConfigurationError, match="named by its package"):
        expect(client(Phone(SHOP))).not_to_be_in_app(package)
