"""What can be expected of a node, and what a failure says."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.locator import LocatorAssertions
from pytest_clawperator.errors import ConfigurationError, ExpectationError, StepFailedError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.runner import SERIAL, SHOP, Phone, client, node, screen

FORM = screen(
    node(text="Sign in", id="heading", kind="TextView"),
    node(text="ada", id="name", kind="EditText", focused=True),
    node(text="Wi-Fi", id="wifi", kind="Switch", checkable=True, checked=True),
    node(text="Sound", id="sound", kind="Switch", checkable=True),
    node(text="Pay", id="pay", kind="Button", enabled=False, clickable=True),
    node(text="Home", id="home", kind="TextView", selected=True),
    node(desc="Search", id="search", kind="ImageView", clickable=True),
    node(
        node(text="Version", id="title", kind="TextView"),
        node(text="16", id="summary", kind="TextView"),
        id="row",
    ),
    node(
        node(text="Half", kind="TextView", bounds="[0,2300][100,2500]"),
        bounds="[0,2000][1080,2400]",
        kind="ScrollView",
        scrollable=True,
    ),
    node(text="Away", kind="TextView", bounds="[0,5000][100,5050]"),
)

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


def assertions(matcher: dict[str, Any], shown: str = FORM) -> LocatorAssertions:
    """Expect something of a node, for a tenth of a second that takes no time."""
    expect = Expect(clock=FakeTime().clock)
    expect.set_timeout(0.1)
    expect.configure(linger=0)
    return expect(client(Phone(shown)).node(**matcher))


def failure(hold: Callable[[], None]) -> str:
    """Give the text of the failure."""
    with pytest.raises(ExpectationError) as caught:
        hold()
    return str(caught.value)


@pytest.mark.parametrize(("matcher", "check", "args", "options"), TRUE)
def test_what_is_so_holds(
    matcher: dict[str, Any], check: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """A check passes where it is so, and its twin fails there."""
    expected = assertions(matcher)

    getattr(expected, check)(*args, **options)
    told = failure(lambda: getattr(expected, f"not_{check}")(*args, **options))

    assert f" not {check.split('_')[0]} " in told


@pytest.mark.parametrize(("matcher", "check", "args", "options", "found"), FALSE)
def test_what_is_not_so_fails(
    matcher: dict[str, Any],
    check: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    found: str,
) -> None:
    """A check fails where it is not so, and says what is; its twin passes there."""
    expected = assertions(matcher)

    told = failure(lambda: getattr(expected, check)(*args, **options))
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in told.split("\n")[0]


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
def test_absent_node_is_in_no_state(check: str, args: tuple[Any, ...]) -> None:
    """Of a node that is not there neither a state nor its opposite can be expected."""
    expected = assertions({"text": "Nowhere"})

    told = [failure(partial(getattr(expected, name), *args)) for name in (check, f"not_{check}")]

    assert all("found no match" in text for text in told)


def test_failure_says_all_there_is_to_say() -> None:
    """One failure tells subject, wish, finding, log, near misses, screen and what to try."""
    expected = assertions({"text": "Sign out"})

    lines = failure(expected.to_be_visible).split("\n")

    assert lines[0] == (
        f"[{SERIAL}] EXPECTATION_FAILED: expected node(text='Sign out') to be visible, "
        "found no match"
    )
    assert lines[1] == "  waited: 6 × no match in 0.1 s"
    assert lines[2].startswith('  nearest: text "Sign in" com.example.shop:id/heading')
    assert lines[2].endswith(": text is `Sign in`, wanted `Sign out`")
    assert "  on the screen:" in lines
    assert '    - button "Pay" #pay [disabled] [0,0][100,50]' in lines
    assert lines[-1].startswith("  hint: ")


def test_message_comes_first() -> None:
    """What the test says about it stands before the rest."""
    expect = Expect(clock=FakeTime().clock)
    expect.set_timeout(0)

    told = failure(expect(client(Phone()).node(text="x"), "signed in").to_be_visible)

    assert "EXPECTATION_FAILED: signed in: expected node(text='x') to be visible" in told


def test_log_tells_what_was_seen_meanwhile() -> None:
    """Values that changed while waiting are told in their order."""
    loading = screen(node(text="Loading", id="total", kind="TextView"))
    ready = screen(node(text="$11", id="total", kind="TextView"))
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(screen(), screen(), loading, ready), timeout=0.1)

    told = failure(lambda: expect(claw.node(id="total")).to_have_text("$12"))

    assert "  waited 0.1 s:\n    2 × no match in 40 ms\n" in told
    assert '\n    1 × "Loading" in 20 ms\n    3 × "$11" in 40 ms\n' in told


def test_late_node_is_said_to_be_late() -> None:
    """What appears after the deadline fails, and the failure says by how much."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(*[screen()] * 16, FORM), timeout=0.1)

    told = failure(expect(claw.node(text="Sign in")).to_be_visible)

    assert "\n  appeared 0.2 s after the deadline\n" in told
    assert "longer timeout= than 0.3 s" in told


def test_lingering_can_be_switched_off() -> None:
    """With linger=0 nobody looks after the deadline."""
    time = FakeTime()
    expect = Expect(clock=time.clock)
    expect.configure(linger=0)
    claw = client(Phone(*[screen()] * 10, FORM), timeout=0.1)

    told = failure(expect(claw.node(text="Sign in")).to_be_visible)

    assert "after the deadline" not in told
    assert time.now == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("given", "set_to", "seconds"), [(None, None, 3.0), (None, 2.0, 2.0), (1.0, 2.0, 1.0)]
)
def test_whose_timeout_holds(given: float | None, set_to: float | None, seconds: float) -> None:
    """The check's timeout comes first, then the one that was set, then the client's."""
    time = FakeTime()
    expect = Expect(clock=time.clock)
    expect.configure(linger=0)
    expect.set_timeout(set_to)
    claw = client(Phone(), timeout=3.0)

    failure(lambda: expect(claw.node(text="x")).to_be_visible(timeout=given))

    assert time.now == pytest.approx(seconds)


def test_one_snapshot_a_poll() -> None:
    """However much is looked for, each poll takes one snapshot."""
    phone = Phone(SHOP)
    expect = Expect(clock=FakeTime().clock)
    expect.configure(linger=0)
    claw = client(phone, timeout=0.04)
    row = claw.node(id="list").node(id="row", has=claw.node(text="Cheese"))

    failure(expect(row).to_be_visible)

    assert phone.types == [["snapshot_ui"]] * 3


def test_first_of_several_is_said_to_be() -> None:
    """A failure about one of several nodes says which one it is about."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    told = failure(lambda: expect(claw.node(id="name")).to_have_text("Milk"))

    assert 'expected node(id=\'name\') (1st of 3) to have text "Milk", found "Tea"' in told


def test_strict_matchers_want_one_node() -> None:
    """With strict matchers several nodes that fit are an error, unless all are meant."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), strict_matchers=True)

    expect(claw.node(id="name")).to_have_count(3)
    with pytest.raises(StepFailedError, match="NODE_AMBIGUOUS: expect: 3 nodes fit"):
        expect(claw.node(id="name")).to_have_text("Tea")


def test_node_outside_its_container_is_named() -> None:
    """A node that fits, but not inside what it was looked for in, is the nearest miss."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)

    told = failure(expect(claw.node(id="list").node(text="Shop")).to_be_visible)

    assert "text \"Shop\" [0,0][100,50]: not inside node(id='list')" in told
    assert "hint: Such a node is on the screen, but not inside node(id='list')." in told


def test_off_screen_node_wants_a_scroll() -> None:
    """What is in the tree and off the screen is said to need a scroll."""
    told = failure(assertions({"text": "Away"}).to_be_visible)

    assert "hint: It is in the tree, and off the screen: scroll_into_view()" in told


def test_window_over_the_app_is_named() -> None:
    """A prompt that lies over the app is told, and is what to do something about first."""
    prompt = "com.android.permissioncontroller"

    def shown(action: object) -> dict[str, str]:
        return {"text": FORM, "has_overlay": "true", "overlay_package": prompt}

    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(data={"snapshot_ui": shown}), timeout=0.0)

    told = failure(expect(claw.node(text="Item 1")).to_be_visible)

    assert f"  overlay: a window of {prompt} lies over the app\n" in told
    assert f"hint: Answer or close the window of {prompt} first." in told


@pytest.mark.parametrize(
    ("expected", "hint"),
    [
        ("sign IN", "They differ only in upper and lower case."),
        ("Sign  in ", "They differ only in white space: 'Sign in' is there."),
        ("Sign\N{ZERO WIDTH SPACE} in", "They look alike and are made of other characters"),
        ("Sign in" + "!" * 80, "They differ from character 8 on"),
    ],
)
def test_hard_to_see_differences_are_told(expected: str, hint: str) -> None:
    """Where two texts look the same, the failure says what the difference is."""
    told = failure(lambda: assertions({"id": "heading"}).to_have_text(expected))

    assert f"  hint: {hint}" in told


def test_hostile_texts_stay_on_their_line() -> None:
    """Text of a screen cannot forge lines or colours of a failure."""
    shown = screen(node(text="a&#10;b\u202e&#x9b;31m" + "x" * 500, id="evil", kind="TextView"))

    told = failure(lambda: assertions({"id": "evil"}, shown).to_have_text("a"))

    assert 'found "a\\nb\\u202e\\x9b31m' in told
    assert max(map(len, told.split("\n"))) < 300


def test_node_of_a_snapshot_is_not_waited_for() -> None:
    """A node that was found is judged as it is, without a device."""
    expect = Expect()
    snapshot = Snapshot.from_xml(FORM)

    expect(snapshot.find(id="wifi")).to_be_checked()
    told = failure(expect(snapshot.find(text="Sign out")).to_be_visible)

    assert told.startswith("EXPECTATION_FAILED: expected node(text='Sign out') to be visible")
    assert "waited" not in told


def test_node_found_off_the_screen() -> None:
    """A node that was found off the screen is not visible, and has its text all the same."""
    expect = Expect()
    away = Snapshot.from_xml(FORM).find(text="Away", on_screen=False)

    expect(away).to_have_text("Away")
    expect(away).to_exist()
    expect(away).not_to_be_visible()
    expect(away).to_be_hidden()
    expect(away).not_to_be_in_viewport()


def test_snapshot_does_not_wait_longer() -> None:
    """A timeout for what never changes is refused."""
    found = Snapshot.from_xml(FORM).find(id="wifi")

    with pytest.raises(ConfigurationError, match="a snapshot stays as it is"):
        Expect()(found).to_be_checked(timeout=3)


@pytest.mark.parametrize(
    ("hold", "complaint"),
    [
        (lambda e: e.to_have_text(3), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text(re.compile(b"x")), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text([b"x"]), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_count(-1), "a count is a whole number"),
        (lambda e: e.to_have_count(True), "a count is a whole number"),
        (lambda e: e.to_have_role("buton"), "Did you mean 'button'"),
        (lambda e: e.to_have_role("listitem"), "a snapshot tells no role"),
        (lambda e: e.to_be_in_viewport(ratio=2), "ratio= must be more than 0"),
        (lambda e: e.to_be_visible(timeout=-1), "timeout= must be a number"),
    ],
)
def test_nonsense_is_refused(hold: Hold, complaint: str) -> None:
    """What makes no sense is refused before anything is looked at."""
    with pytest.raises(ConfigurationError, match=complaint):
        hold(assertions({"id": "pay"}))


def test_role_that_no_snapshot_tells_is_refused() -> None:
    """A locator by a role that only the device knows would never be found."""
    with pytest.raises(ConfigurationError, match="does not tell which nodes are"):
        assertions({"role": "listitem"})


def test_failure_travels_whole() -> None:
    """A failure survives the way from a worker with everything in it."""
    with pytest.raises(ExpectationError) as caught:
        assertions({"text": "Sign out"}).to_be_visible()

    again = pickle.loads(pickle.dumps(caught.value))

    assert str(again) == str(caught.value)
    assert again.details == caught.value.details
    assert again.details["log"] == ["6 × no match in 0.1 s"]
    assert "Sign in" in again.details["xml"]


def test_what_cannot_be_checked_is_neither_on_nor_off() -> None:
    """A text is not unchecked: both ways fail."""
    expected = assertions({"id": "heading"})

    for hold in (expected.to_be_checked, expected.not_to_be_checked):
        assert "found a text that cannot be checked" in failure(hold)


@pytest.mark.parametrize(
    ("role", "told"), [("swich", "Did you mean switch"), ("listitem", "does not tell")]
)
def test_roles_are_judged_anywhere_in_a_locator(role: str, told: str) -> None:
    """A role that is never found is refused, around a node and in it, too."""
    claw = client(Phone(FORM))
    locators = [
        claw.node(role=role),
        claw.node(role=role).node(text="Pay"),
        claw.node(id="row", has=claw.node(role=role)),
    ]

    for locator in locators:
        with pytest.raises(ConfigurationError, match=told):
            Expect()(locator).not_to_be_visible()


def test_difference_of_lists_is_told_by_its_index() -> None:
    """Where lists differ is said, however long they are."""
    told = failure(lambda: assertions({"role": "switch"}).to_have_text(["Wi-Fi", "Light"]))

    assert 'They differ from index 1 on: wanted "Light", found "Sound".' in told
