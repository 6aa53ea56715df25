"""Plans are carried out: aimed, sent, repeated while there is time, and explained."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.client import plans
from pytest_clawperator.client.perform import Performer, judged_by, matchers_of
from pytest_clawperator.client.plans import Aim
from pytest_clawperator.client.target import Use
from pytest_clawperator.client.timing import Wait
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.params import pauses_ms
from pytest_clawperator.contracts.payload import Action, Execution, waiting_ms
from pytest_clawperator.errors import (
    ErrorCode,
    NodeNotFoundError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunResult
from tests.doubles.runner import (
    PACKAGE,
    SHOP,
    Act,
    Phone,
    ScriptedRunner,
    client,
    first,
    moving,
    node,
    page,
    result_of,
    screen,
    step_of,
)

MISSING = {"error": "NODE_NOT_FOUND"}
NO_LIST = {"error": "CONTAINER_NOT_FOUND"}
EMPTY = screen(node(text="Loading", kind="TextView"))
OFFER = screen(node(text="50% off", id="offer", kind="Button"))
BARE_ID = screen(node(text="OK", kind="Button").replace('resource-id=""', 'resource-id="login"'))
TALL = screen(node(id="a", bounds="[0,0][10,10]"), node(id="a", bounds="[0,2300][1080,2900]"))
TWICE = screen(node(text="Tea", id="x"), node(text="Tea", id="x", bounds="[0,90][9,99]"))
DAMAGED = SHOP[: SHOP.index("Bread") + 2]
OTHER_PACKAGE = SHOP.replace(f"{PACKAGE}:id/name", "android:id/name", 1)
BREAD_BUY = {"coordinate": {"x": 940, "y": 425}}
MILK = re.compile(r"^M\w+$")


def answers(*given: dict[str, str]) -> Any:
    """Answer actions one after the other, the last answer for ever."""
    left = list(given)

    def answer(action: Action) -> dict[str, str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def by(**matcher: str) -> dict[str, Any]:
    """Return the parameters of an action on a node."""
    return {"matcher": matcher}


def by_id(name: str) -> dict[str, Any]:
    """Return the parameters of an action on a node of the app by its id."""
    return by(resourceId=f"{PACKAGE}:id/{name}")


# What is sent


@pytest.mark.parametrize(
    ("screens", "act", "sent", "params"),
    [
        # A short id is looked up, and sent as the whole one.
        ([SHOP], lambda claw: claw.click(id="name", text="Milk"), ["snapshot_ui", "click"],
         by(resourceId=f"{PACKAGE}:id/name", textEquals="Milk")),
        ([EMPTY, EMPTY, SHOP], lambda claw: claw.click(id="name"),
         ["snapshot_ui", "sleep snapshot_ui", "sleep snapshot_ui", "click"], by_id("name")),
        ([], lambda claw: claw.click(id="com.a:id/b"), ["click"], by(resourceId="com.a:id/b")),
        ([BARE_ID], lambda claw: claw.click(id="login"), ["snapshot_ui", "click"],
         by(resourceId="login")),
        ([DAMAGED], lambda claw: claw.click(id="buy"), ["snapshot_ui", "click"], by_id("buy")),
        # What is inside another node is named by its own matcher, or by its point.
        ([SHOP], lambda claw: claw.click(id="name", within=claw.node(id="list")),
         ["snapshot_ui", "click"], by_id("name")),
        ([SHOP], lambda claw: claw.click(text="Buy", within=claw.node(id="row").nth(2)),
         ["snapshot_ui", "click"], BREAD_BUY),
        # A node of a snapshot is used as it is.
        ([SHOP], lambda claw: claw.click(claw.snapshot().find_all(id="name")[1]),
         ["snapshot_ui", "click"], by(textEquals="Milk")),
        ([SHOP], lambda claw: claw.click(text="Buy", within=claw.snapshot().find_all(id="row")[2]),
         ["snapshot_ui", "click"], BREAD_BUY),
        ([TALL], lambda claw: claw.click(claw.snapshot().find_all(id="a")[1]),
         ["snapshot_ui", "click"], {"coordinate": {"x": 540, "y": 2350}}),
        # The published Operator puts what it does not find into a format string.
        ([EMPTY, OFFER], lambda claw: claw.click(text="50% off"),
         ["snapshot_ui", "sleep snapshot_ui", "click"], by_id("offer")),
        ([OFFER.replace("<node ", '<node scrollable="true" ', 1)],
         lambda claw: claw.scroll_and_click(text="50% off"), ["snapshot_ui", "click"],
         by_id("offer")),
        # A pattern is looked up on a snapshot, and never sent.
        *[([SHOP], act, ["snapshot_ui", "click"], by(textEquals="Milk")) for act in (
            lambda claw: claw.click(text=MILK),
            lambda claw: claw.click(NodeMatcher.of(text=MILK)),
            lambda claw: claw.click({"text": MILK}),
            lambda claw: claw.node(text=MILK).click(),
        )],
    ],
)  # fmt: skip
def test_a_click_is_aimed(
    screens: list[str], act: Act, sent: list[str], params: dict[str, Any]
) -> None:
    """The device gets a matcher that finds the node, or else a point on it."""
    phone = Phone(*screens)

    act(first(phone))

    assert phone.executed == sent
    assert phone.params("click") == [params]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda claw: claw.enter_text("x", text=MILK), "enter_text"),
        (lambda claw: claw.focus(text=MILK), "click"),
        (lambda claw: claw.long_click(text=MILK), "click"),
    ],
)
def test_other_actions_are_aimed_likewise(act: Act, kind: str) -> None:
    """What a pattern matches is sent by a matcher that the device understands."""
    phone = Phone(SHOP)

    act(client(phone))

    assert phone.executed[0] == "snapshot_ui"
    assert [params["matcher"] for params in phone.params(kind)] == [{"textEquals": "Milk"}]


def test_containers_are_sent_where_they_are_what_is_scrolled() -> None:
    """Scrolls take a container, by another matcher if it has a percent sign."""
    phone = Phone(OFFER)
    claw = first(phone)
    around = {"id": f"{PACKAGE}:id/list"}

    claw.scroll(within=around)
    claw.scroll_and_click(text="Tea", within=around)
    claw.scroll(within={"text": "50% off"})

    sent = [s[0]["params"]["container"] for s in phone.sent if s[0]["type"] != "snapshot_ui"]
    names = ["list", "list", "offer"]
    assert sent == [{"resourceId": f"{PACKAGE}:id/{name}"} for name in names]


@pytest.mark.parametrize("method", ["focus", "enter_text", "read_value"])
def test_what_cannot_go_to_a_point_is_refused(method: str) -> None:
    """It is never sent to another node."""
    phone = Phone(SHOP)
    claw = client(phone)
    target = claw.node(id="row", has={"text": "Bread"}).node(text="Buy")
    args = ("hello", target) if method == "enter_text" else (target,)

    with pytest.raises(StepFailedError) as refused:
        getattr(claw, method)(*args)

    assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
    assert "node(id='row', has=node(text='Bread')).node(text='Buy')" in str(refused.value)
    assert phone.executed == ["snapshot_ui"]


@pytest.mark.parametrize(
    ("act", "value"),
    [
        (lambda claw: claw.node(id="row").nth(1).node(id="price").read(), "$2"),
        (lambda claw: claw.read_text(id="price", within=claw.node(id="row", has={"text": MILK})),
         "$2"),
        (lambda claw: claw.read_all_text(within=claw.node(id="row").nth(2), text_contains="r"),
         ["Bread"]),
        (lambda claw: claw.read_all_text(within=claw.node(id="row").nth(2), text="Wine"), []),
        (lambda claw: claw.read_all_text(text_contains="$", within=claw.node(id="row")),
         ["$3", "$2", "$4"]),
        (lambda claw: claw.read_text(text_contains="Mi", within={"id": f"{PACKAGE}:id/row"}),
         "Milk"),
        (lambda claw: claw.wait_for_node(text="Bread", within={"id": f"{PACKAGE}:id/row"}).id,
         "snapshot_ui-1"),
        (lambda claw: claw.node(id="row").node(text="Bread").exists(), True),
        (lambda claw: claw.node(id="row").first.node(text="Bread").exists(), False),
        (lambda claw: claw.node(id="row").node(role="button").count(), 3),
        (lambda claw: claw.node(id="row").node(id="row").exists(), False),
        (lambda claw: claw.read_all_text(id="nope", timeout=5), []),
        (lambda claw: claw.read_all_text(id="name"), ["Tea", "Milk", "Bread"]),
        (lambda claw: claw.read_all_text(text=re.compile(r"^\$\d$")), ["$3", "$2", "$4"]),
        (lambda claw: claw.node(text=re.compile("Buy")).nth(1).bounds().top, 300),
        (lambda claw: claw.node(text=MILK).exists(), True),
        (lambda claw: claw.node(text=re.compile("^Coffee")).exists(), False),
        (lambda claw: claw.node(id=re.compile(r"^(name|price)$")).count(), 6),
        (lambda claw: claw.node(id=re.compile(r"^(com|android)[\w.]*:id/na")).count(), 3),
    ],
)  # fmt: skip
def test_what_a_snapshot_shows_is_not_asked_of_the_device(act: Act, value: object) -> None:
    """Texts that had to be looked up are read from the same snapshot."""
    phone = Phone(OTHER_PACKAGE)

    assert act(client(phone)) == value
    assert phone.executed == ["snapshot_ui"]


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda claw: claw.wait_for_navigation(text=MILK), errors.ConfigurationError,
         "no pattern"),
        (lambda claw: claw.execute([{"type": "click", "params": {"matcher": {"text": MILK}}}]),
         errors.ExecutionValidationError, ""),
        (lambda claw: claw.click("OK"), errors.ConfigurationError, "Write text='OK'"),
        (lambda claw: claw.click(re.compile("OK")), errors.ConfigurationError,
         r"Write text=re\.compile\('OK'\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused(
    act: Act, error: type[errors.ClawperatorError], message: str
) -> None:
    """A pattern where only the device can look, and selectors of other tools, are errors."""
    phone = Phone(SHOP)

    with pytest.raises(error, match=message or None):
        act(client(phone))

    assert phone.executions == []


# How long it takes


@pytest.mark.parametrize(
    ("seconds", "waits"), [(0, [0]), (5, [5000]), (15, [6500, 6500, pytest.approx(2000, abs=20)])]
)
def test_a_wait_lasts_as_long_as_asked(seconds: float, waits: list[Any]) -> None:
    """Up to one segment the device itself waits; a longer wait takes several executions."""
    phone = Phone(data={"click": MISSING})

    with pytest.raises(NodeNotFoundError) as missed:
        first(phone).click(text="Tea", timeout=seconds)

    assert phone.executed == [*["click"] * len(waits), "snapshot_ui"]
    assert [pauses_ms(sent[0]["params"]["retry"]) for sent in phone.sent[:-1]] == waits
    assert f"within {seconds} s" in missed.value.message or seconds == 0


def test_what_appears_in_a_later_segment_is_used() -> None:
    """Nothing is sent after that."""
    phone = Phone(data={"click": answers(MISSING, {"click_types": "click"})})

    assert first(phone).click(text="Tea", timeout=15).data == {"click_types": "click"}
    assert phone.executed == ["click", "click"]


def test_the_timeout_of_the_client_is_the_default() -> None:
    """It can be changed."""
    phone = Phone()
    claw = client(phone, timeout=2)
    claw.click(text="Tea")

    claw.timeout = 1
    claw.click(text="Tea")

    assert [pauses_ms(s[0]["params"]["retry"]) for s in phone.sent] == [2000, 1000]


def test_a_failure_that_time_does_not_cure_ends_the_wait() -> None:
    """Only what may still appear is waited for in another segment."""
    phone = Phone(data={"click": {"error": "SECURITY_BLOCK_DETECTED"}})

    with pytest.raises(StepFailedError) as failed:
        first(phone).click(text="Tea", timeout=60)

    assert failed.value.code is ErrorCode.SECURITY_BLOCK_DETECTED
    assert phone.executed == ["click", "snapshot_ui"]


def test_timeouts_on_the_wire_are_longer_than_the_wait() -> None:
    """Neither the execution's nor that of wait_for_node cuts off the last attempt."""
    phone = Phone()

    client(phone).wait_for_navigation(package="com.a", timeout=29)
    client(phone).wait_for_node(text="Tea", timeout=3)

    params = phone.sent[1][0]["params"]
    assert phone.executions[0].timeout_ms == 34_000
    assert (pauses_ms(params["retry"]), params["timeoutMs"]) == (3000, 4000)


def test_polls_pause_on_the_device() -> None:
    """The host never sleeps; the pauses that were sent count, however short they were."""
    phone = Phone(data={"scroll_until": answers(NO_LIST, {})})
    client(phone).scroll_until(max_scrolls=3)

    assert phone.executed == ["scroll_until", "sleep scroll_until"]
    assert phone.params("sleep") == [{"durationMs": 200}]

    phone = Phone(data={"scroll_until": NO_LIST})
    with pytest.raises(errors.ContainerNotFoundError):
        client(phone).scroll_until(max_scrolls=3, timeout=1)

    polls = [sent for sent in phone.sent if sent[-1]["type"] == "scroll_until"]
    assert 2 <= len(polls) <= 6
    assert 0 < sum(waiting_ms(sent[0]) for sent in polls[1:]) <= 1000


def test_a_node_that_moved_is_looked_up_again() -> None:
    """It was seen, and is gone when it is clicked."""
    phone = Phone(SHOP, data={"click": answers(MISSING, {})})

    client(phone).node(id="name").nth(1).click()

    assert phone.executed == ["snapshot_ui", "click", "sleep snapshot_ui", "click"]
    assert phone.sent[1][0]["params"]["retry"] == {"maxAttempts": 1}


@pytest.mark.parametrize(
    "act",
    [
        lambda claw: claw.wait_for_node(text=MILK),
        lambda claw: claw.wait_for_node(id="row", within=claw.node(id="list").nth(0)),
    ],
)
def test_waiting_for_a_looked_up_node_is_polling(act: Act) -> None:
    """Waiting for what cannot be sent to the device takes snapshots."""
    phone = Phone(EMPTY, SHOP)

    assert act(client(phone)).action_type == "snapshot_ui"
    assert phone.executed == ["snapshot_ui", "sleep snapshot_ui"]


# What is missing


@pytest.mark.parametrize(
    ("shown", "act", "code", "message"),
    [
        (SHOP, lambda claw: claw.click(id="nam", timeout=0), "NODE_NOT_FOUND",
         "did you mean id='name'?"),
        (SHOP, lambda claw: claw.click(text="Tea", within={"text": "Cart"}, timeout=0),
         "CONTAINER_NOT_FOUND", "no node(text='Cart') on the screen"),
        (EMPTY, lambda claw: claw.wait_for_node(text="50% off", timeout=0), "NODE_NOT_FOUND",
         "no node(text='50% off')"),
        (SHOP, lambda claw: claw.node(id="row").nth(1).read(timeout=0), "NODE_HAS_NO_TEXT", ""),
        (DAMAGED, lambda claw: claw.click(id="nope", timeout=0), "NODE_NOT_FOUND",
         "The snapshot is damaged"),
        (SHOP, lambda claw: claw.click(text=re.compile(r"^Milch$"), timeout=0), "NODE_NOT_FOUND",
         "text is `Milk`, wanted one with the pattern `^Milch$`"),
        # An old snapshot does not change, so nothing is waited for.
        (SHOP, lambda claw: claw.click(text="Tea", within=claw.snapshot().find_all(id="row")[2],
                                       timeout=60), "NODE_NOT_FOUND", ".node(text='Tea') on"),
        # Several nodes with a short id are reported before anything is tapped.
        (SHOP, lambda claw: claw.click(id="buy", timeout=0), "NODE_AMBIGUOUS",
         "3 nodes match node(id='buy')\n"),
    ],
)  # fmt: skip
def test_a_lookup_that_fails_sends_nothing_else(
    shown: str, act: Act, code: str, message: str
) -> None:
    """The error names the code and the way out."""
    phone = Phone(shown)

    with pytest.raises(StepFailedError) as missed:
        act(client(phone))

    assert missed.value.code == code
    assert message in str(missed.value)
    assert phone.executed == ["snapshot_ui"]


def test_reading_all_texts_needs_a_whole_snapshot() -> None:
    """A part is not taken for the whole."""
    with pytest.raises(SnapshotError, match="cut a long text"):
        client(Phone(DAMAGED)).read_all_text(id="name")


# One node, proved by a snapshot


def test_a_click_is_waited_for_proved_and_sent_in_one_execution() -> None:
    """The device waits as long as was asked, and the click itself is tried once."""
    phone = Phone(SHOP)

    step = client(phone).click(text="Tea", timeout=2)

    assert phone.executed == ["wait_for_node snapshot_ui click"]
    assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == 2000
    assert phone.sent[0][2]["params"]["retry"] == {"maxAttempts": 1}
    assert (step.id, step.action_type) == ("click-1", "click")
    assert step.proof.snapshot.find(text="Tea")
    assert [action["id"] for action in phone.sent[0]] == [
        "click-1-wait",
        "click-1-proof",
        "click-1",
    ]


@pytest.mark.parametrize(
    ("act", "sent"),
    [
        (lambda claw: claw.click(text="Buy"), "wait_for_node snapshot_ui click"),
        (lambda claw: claw.scroll_until(text="Buy", click=True), "scroll_until snapshot_ui click"),
        (lambda claw: claw.scroll_and_click(text="Buy"), "scroll_and_click snapshot_ui click"),
    ],
)
def test_several_nodes_are_listed_after_a_tap(act: Act, sent: str) -> None:
    """The error says that the first was tapped; a scroll is sent without its own tap."""
    phone = Phone(SHOP, data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})

    with pytest.raises(StepFailedError) as refused:
        act(client(phone))

    assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
    assert "3 nodes match node(text='Buy'), and the first was tapped" in refused.value.message
    assert len(refused.value.details["nodes"]) == 3
    assert phone.executed == [sent]
    assert not phone.sent[0][0]["params"].get("clickAfter")


ROWS = {"id": f"{PACKAGE}:id/row"}


@pytest.mark.parametrize(
    "act",
    [
        lambda claw: claw.scroll(within=ROWS),
        lambda claw: claw.scroll_until(text=re.compile("Wine"), within=ROWS),
        lambda claw: list(claw.pages(within=ROWS)),
    ],
)
def test_what_is_scrolled_must_be_one(act: Act) -> None:
    """Which of several lists is meant is not guessed."""
    phone = Phone(SHOP.replace('class="android.widget.FrameLayout"', 'scrollable="true"'))

    with pytest.raises(StepFailedError) as refused:
        act(client(phone))

    assert f"3 nodes match node(id='{PACKAGE}:id/row')" in refused.value.message


@pytest.mark.parametrize(
    ("act", "sent"),
    [
        (lambda claw: claw.click(text="Milk", within=ROWS), by(textEquals="Milk")),
        (lambda claw: claw.node(id="row").node(text="Bread").click(), by(textEquals="Bread")),
        (lambda claw: claw.node(id="row").last.node(text="Buy").click(), BREAD_BUY),
        (lambda claw: claw.node(id="row").node(text="Buy").last.click(), BREAD_BUY),
    ],
)
def test_a_nested_node_is_looked_up_in_every_container(act: Act, sent: dict[str, Any]) -> None:
    """A click on it takes two executions: a snapshot, and the click."""
    phone = Phone(SHOP)

    act(client(phone))

    assert phone.executed == ["snapshot_ui", "click"]
    assert phone.params("click") == [sent]


@pytest.mark.parametrize("method", ["click", "read_text", "read_value", "focus"])
def test_a_nested_node_must_be_one_of_all(method: str) -> None:
    """Uniqueness is judged over all containers, before anything is done."""
    phone = Phone(SHOP)

    with pytest.raises(StepFailedError) as refused:
        getattr(client(phone), method)(text="Buy", within=ROWS, timeout=0)

    assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
    assert f"3 nodes match node(id='{PACKAGE}:id/row').node(text='Buy')" in refused.value.message
    assert phone.executed == ["snapshot_ui"]


@pytest.mark.parametrize(
    "act",
    [
        lambda claw: claw.read_all_text(role="listitem", within=claw.node(id="list")),
        lambda claw: claw.node(id="list").node(role="listitem").exists(),
        lambda claw: claw.node(role="listitem").first.exists(),
        lambda claw: claw.node(role="listitem").resolve(claw.snapshot()),
    ],
)
def test_a_role_that_snapshots_do_not_show_is_not_taken_for_absent(act: Act) -> None:
    """What only the device could find, and cannot be asked for, is an error."""
    with pytest.raises(errors.ConfigurationError, match="does not show which nodes"):
        act(client(Phone(SHOP)))


def test_waiting_for_an_old_node_is_waiting_for_that_node() -> None:
    """It is found again by what is its alone; if nothing is, that is an error."""
    phone = Phone(SHOP, SHOP.replace("Tea", "Wine"), SHOP)
    claw = client(phone)
    shown = claw.snapshot()
    tea, row = shown.find_all(id="name")[0], shown.find_all(id="row")[0]

    claw.wait_for_node(tea)

    assert phone.executed == ["snapshot_ui", "snapshot_ui", "sleep snapshot_ui"]
    for act in (claw.wait_for_node, claw.read_all_text):
        with pytest.raises(errors.ConfigurationError, match="cannot be found again"):
            act(row)


def test_an_old_node_that_is_missed_does_not_hide_why() -> None:
    """The error is that of the click, though the screen cannot show which node was meant."""
    phone = Phone(SHOP, data={"click": MISSING})
    row = client(phone).snapshot().find_all(id="row")[0]

    with pytest.raises(NodeNotFoundError, match="click: no <Node"):
        first(phone).click(row, timeout=0)


def test_a_transition_is_waited_for_before_anything_is_done() -> None:
    """Two screens that are there together for a moment are not an error."""
    phone = Phone(TWICE, TWICE, SHOP, data={"read_text": {"text": "Tea"}})

    assert client(phone).read_text(text="Tea") == "Tea"
    assert len(phone.sent) == 3


@pytest.mark.parametrize(
    ("act", "sent"),
    [
        # A role that only the device knows is left to the device.
        (lambda claw: claw.click(role="listitem"), ["click"]),
        (lambda claw: claw.click(role="Row"), ["click"]),
        # Any or all of several nodes will do.
        (lambda claw: claw.read_all_text(text="Buy"), ["read_text"]),
        (lambda claw: claw.wait_for_node(text="Buy"), ["wait_for_node"]),
        (lambda claw: claw.wait_for_navigation(text="Buy"), ["wait_for_navigation"]),
        (lambda claw: claw.scroll_until(text="Buy"), ["scroll_until"]),
        # The first of several is what the device finds; another one is looked up.
        (lambda claw: claw.node(text="Buy").first.click(), ["wait_for_node snapshot_ui click"]),
        (lambda claw: claw.node(text="Buy").last.click(), ["snapshot_ui", "click"]),
    ],
)
def test_some_actions_are_not_about_one_node(act: Act, sent: list[str]) -> None:
    """Then no proof is needed, although three nodes match."""
    found = {"scroll_until": {"termination_reason": "TARGET_FOUND"}, "read_text": {"text": "[]"}}
    phone = Phone(SHOP, data=found)

    act(client(phone))

    assert phone.executed == sent


def test_a_proof_that_was_lost_stops_the_test() -> None:
    """Without the snapshot it is unknown what was tapped."""
    phone = Phone(data={"snapshot_ui": {"error": "SNAPSHOT_EXTRACTION_FAILED"}})

    with pytest.raises(SnapshotError) as lost:
        client(phone).click(text="Tea", timeout=0)

    assert lost.value.code is ErrorCode.SNAPSHOT_EXTRACTION_FAILED


# What is in the way of a tap


def button(*others: str, enabled: bool = True, covered: bool = False) -> str:
    """Make a screen with a button, and a scrim over it."""
    scrim = node(id="scrim", bounds="[0,0][1080,2400]", clickable=True)
    send = node(text="Send", id="send", kind="Button", clickable=True, enabled=enabled)
    return screen(send, *others, *([scrim] if covered else []))


def label(*, covered: bool = False) -> str:
    """Make a screen with a text that takes no clicks itself."""
    return button(covered=covered).replace('clickable="true"', "", 1)


OFF, ON = button(enabled=False), button()
SENT = node(text="Sent")
REFUSING = {"error": "NODE_NOT_CLICKABLE"}


@pytest.mark.parametrize(
    ("screens", "taps", "data"),
    [
        pytest.param([OFF, OFF, OFF, ON], 2, {}, id="enabled later"),
        pytest.param([button(node(text="Loading"), enabled=False)] * 3 + [ON], 2, {},
                     id="what changes long after the tap is not its effect"),
        pytest.param([OFF, button(SENT)], 1, {}, id="enabled just before the tap, which worked"),
        pytest.param([OFF, EMPTY], 1, {}, id="the tap opened another screen"),
        pytest.param([OFF, ON], 2, {}, id="enabled, and nothing else has changed"),
        pytest.param([OFF, OFF, OFF, ON], 2, {"click": answers(REFUSING, {})},
                     id="refused by the Operator"),
        pytest.param([label(covered=True)] * 2 + [label()], 2, {}, id="uncovered later"),
        pytest.param([button(covered=True)] * 2 + [button(SENT)], 1, {},
                     id="a click of the Operator goes through a cover"),
    ],
)  # fmt: skip
def test_a_tap_is_repeated_only_if_it_had_no_effect(
    screens: list[str], taps: int, data: dict[str, Any]
) -> None:
    """What keeps a tap from its node is waited for, with snapshots alone."""
    phone = Phone(*screens, data=data)

    client(phone).click(text="Send", timeout=20)

    assert " ".join(phone.executed).split().count("click") == taps


def test_waiting_for_a_disabled_node_takes_snapshots() -> None:
    """It is tapped again when it is enabled; a node that is looked up is tapped only then."""
    phone = Phone(OFF, OFF, OFF, ON)
    client(phone).click(text="Send", timeout=20)
    looked_up = Phone(OFF, OFF, ON)
    client(looked_up).click(id="send", timeout=20)

    proved = "wait_for_node snapshot_ui click"
    proofs = ["sleep snapshot_ui"] * 2
    assert phone.executed == [proved, "snapshot_ui", *proofs, f"sleep {proved}"]
    assert looked_up.executed == ["snapshot_ui", *proofs, "click"]


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (OFF, "click node(text='Send'): it is disabled for 1 s"),
        (button(covered=True), "it is covered by"),
        (button(covered=True), f"{PACKAGE}:id/scrim"),
    ],
)
def test_an_obstacle_that_stays_is_an_error(shown: str, message: str) -> None:
    """At the end of the time the error names it; one tap was sent."""
    phone = Phone(shown)

    with pytest.raises(StepFailedError) as refused:
        client(phone).click(text="Send", timeout=1)

    assert refused.value.code is ErrorCode.NODE_NOT_CLICKABLE
    assert message in refused.value.message
    assert " ".join(phone.executed).split().count("click") == 1


def test_an_obstacle_stops_neither_reads_nor_unproved_clicks() -> None:
    """What is disabled or covered can be read; with first-wins the device's word counts."""
    phone = Phone(button(enabled=False, covered=True), data={"read_text": {"text": "Send"}})

    assert client(phone).read_text(text="Send") == "Send"
    first(phone).click(text="Send")

    assert phone.executed[1:] == ["click"]


# Other trouble


def test_trouble_in_the_lab_is_not_about_nodes() -> None:
    """A service that is switched off needs no second snapshot."""
    phone = Phone(data={"click": {"error": "SERVICE_UNAVAILABLE"}})

    with pytest.raises(errors.OperatorNotReadyError) as broken:
        first(phone).click(text="Tea")

    assert broken.value.serial == phone.serial
    assert phone.executed == ["click"]


def test_a_snapshot_that_fails_does_not_hide_the_error() -> None:
    """The error comes without the screen, even if the device vanishes just then."""
    phone = Phone(data={"click": MISSING, "snapshot_ui": {"error": "UI_TREE_UNAVAILABLE"}})

    with pytest.raises(NodeNotFoundError) as missed:
        first(phone).click(text="Tea", timeout=0)
    assert (missed.value.snapshot, missed.value.outline) == (None, "")

    def vanish(execution: Any) -> Any:
        if execution.actions[0].type == "snapshot_ui":
            raise SnapshotError("gone")
        return result_of(execution, error="Task execution failed: No UI node found")

    with pytest.raises(NodeNotFoundError):
        client(ScriptedRunner(vanish)).click(text="Tea", timeout=0)


def test_a_snapshot_that_is_needed_must_not_fail() -> None:
    """A node cannot be looked up on a screen that cannot be read."""
    phone = Phone(data={"snapshot_ui": {"error": "UI_TREE_UNAVAILABLE"}})

    with pytest.raises(SnapshotError) as failed:
        client(phone).click(id="name")

    assert failed.value.serial == phone.serial


def test_an_envelope_without_steps_is_malformed() -> None:
    """Success without a result is not a success."""
    with pytest.raises(errors.EnvelopeMalformedError, match="no step results"):
        client(ScriptedRunner(lambda execution: result_of(execution))).back()


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda claw: claw.click(role="listitem", text="100%", timeout=0), "NODE_NOT_FOUND"),
        (lambda claw: claw.open_uri("nope://a%2Fb"), "URI_NOT_HANDLED"),
        (lambda claw: claw.open_uri("nope://a"), "EXECUTION_FAILED"),
    ],
)
def test_a_garbled_failure_has_its_code(act: Act, code: str) -> None:
    """A percent sign garbles messages of the published Operator; without one nothing is guessed."""

    def garbled(execution: Execution) -> RunResult:
        if execution.actions[0].type == "snapshot_ui":
            return result_of(execution, [step_of(execution.actions[0], text=SHOP)])
        return result_of(execution, error="Conversion = 'F'")

    with pytest.raises(StepFailedError) as failed:
        act(client(ScriptedRunner(garbled)))

    assert failed.value.code == code


# Page by page


def test_pages_end_at_the_edge() -> None:
    """A snapshot, then a scroll and a snapshot in one execution, until nothing moves."""
    phone = Phone(page("A"), page("B"), page("C"), data={"scroll": moving(2)})
    pages = client(phone).pages()

    names = [next(pages).find_all(id="name")[0].label]
    assert phone.executed == ["snapshot_ui"]  # nothing is sent ahead
    names += [each.find_all(id="name")[0].label for each in pages]

    assert names == ["A", "B", "C"]
    assert phone.executed == ["snapshot_ui", *["scroll snapshot_ui"] * 3]


def test_pages_end_after_so_many_scrolls() -> None:
    """A feed has no end; what does not scroll is one page."""
    phone = Phone(page("A"), data={"scroll": moving(99)})
    around = {"id": f"{PACKAGE}:id/list"}

    assert len(list(client(phone).pages(max_scrolls=4, direction="up", within=around))) == 5
    assert (
        phone.params("scroll")
        == [{"direction": "up", "container": {"resourceId": f"{PACKAGE}:id/list"}}] * 4
    )
    assert len(list(client(Phone(page("A", scrollable=False))).pages())) == 1


@pytest.mark.parametrize(
    ("act", "scrolls", "params"),
    [
        (lambda claw: claw.scroll_and_click(claw.node(id="row", has={"text": "Milk"})), 2,
         [by_id("row")]),
        (lambda claw: claw.scroll_until(id="name", text="B"), 1, []),
        (lambda claw: claw.scroll_until(text=re.compile("^[B-Z]$")), 1, []),
        (lambda claw: claw.scroll_until(id="name"), 0, []),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_searched_page_by_page(
    act: Act, scrolls: int, params: list[Any]
) -> None:
    """It is clicked on the page where it was seen; what is in sight needs no scroll."""
    phone = Phone(page("A"), page("B"), page("Milk"), data={"scroll": moving(9)})

    outcome = act(first(phone))

    assert outcome
    assert (outcome.scrolls_executed, outcome.moved) == (scrolls, scrolls > 0)
    assert len(phone.params("scroll")) == scrolls
    assert phone.params("click") == params
    assert phone.params("scroll_until") == []


def test_a_search_ends_with_the_list_or_the_time() -> None:
    """Gestures are as asked for, and the error says why the search ended."""
    phone = Phone(page("A"), page("B"), data={"scroll": moving(1)})
    with pytest.raises(NodeNotFoundError) as missed:
        client(phone).scroll_until(id="name", text="C", distance_ratio=0.2, settle_delay=0.01)

    assert missed.value.code is ErrorCode.TARGET_NOT_FOUND
    assert "no node(text='C', id='name') on the screen after 1 scrolls" in missed.value.message
    gesture = {"direction": "down", "distanceRatio": 0.2, "settleDelayMs": 10}
    assert phone.params("scroll") == [gesture] * 2

    phone = Phone(page("Tea"), data={"scroll": moving(100)})
    with pytest.raises(NodeNotFoundError, match="MAX_DURATION_REACHED"):
        client(phone).scroll_until(id="wine", max_duration=0.000001, max_scrolls=50)
    assert len(phone.params("scroll")) < 50


@pytest.mark.parametrize("target", [{"id": "wine"}, {"text": "Wine"}])
@pytest.mark.parametrize("scrolls", [1000, 0, -3, "3", 2.0, True])
def test_an_invalid_number_of_scrolls_is_refused(target: Any, scrolls: Any) -> None:
    """What the device would refuse is refused, however the node is described."""
    phone = Phone(page("Tea"))

    for method in (client(phone).scroll_until, client(phone).scroll_and_click):
        with pytest.raises(errors.ConfigurationError, match="times, not"):
            method(**target, max_scrolls=scrolls)
    with pytest.raises(errors.ConfigurationError, match=r"pages\(\) scrolls"):
        list(client(phone).pages(max_scrolls="2"))  # type: ignore[arg-type]

    assert phone.executed == []


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda claw: claw.scroll_and_click(id="buy"), r"click\(\) will do"),
        (lambda claw: list(claw.pages(within={"text": "Cart"})), r"no node\(text='Cart'\)"),
        (lambda claw: claw.scroll_to_top(), "scroll_to_top: nothing"),
        *[(lambda claw, verb=verb: getattr(claw, verb)(text="Tea", within=claw.node(id="nope")),
           f"{verb}: no node") for verb in ("scroll_until", "scroll_and_click")],
        (lambda claw: claw.scroll(within=claw.node(id="nope")), "scroll: no node"),
    ],
)  # fmt: skip
def test_a_list_that_is_missing_is_an_error(act: Act, message: str) -> None:
    """The error is about the list, and names the method that was called."""
    phone = Phone(page("Tea", scrollable=False), data={"scroll": NO_LIST, "scroll_until": NO_LIST})

    with pytest.raises(errors.ContainerNotFoundError, match=message):
        act(client(phone, timeout=0))


# The performer itself

TEA = NodeMatcher(text_equals="Tea")
CLICK = plans.click("click", TEA, {})


def test_proofs_belong_to_their_action() -> None:
    """What proves an action is named after it; without proof only the action is sent."""
    sending = Performer(Phone()).sending(CLICK, Aim(TEA), Wait(2), id="click-1")
    alone = Performer(Phone(), matchers="first").sending(CLICK, Aim(TEA), Wait(2), id="click-1")

    assert sending.proofs == {"click-1-wait": "click-1", "click-1-proof": "click-1"}
    assert [action.id for action in alone.actions] == ["click-1"]


@pytest.mark.parametrize(
    ("plan", "aim", "judged"),
    [
        (CLICK, Aim(TEA), (CLICK.target, Use.TAP)),
        (CLICK, Aim(point=(1, 2)), None),
        (plans.click("click", None, {"role": "listitem"}), Aim(NodeMatcher(role="listitem")), None),
        (plans.wait_for_node(TEA, {}), Aim(TEA), None),
    ],
)
def test_what_a_snapshot_is_judged_by(plan: Any, aim: Aim, judged: object) -> None:
    """A point, a role that only the device knows, and a choice of any node are not judged."""
    assert judged_by(plan, aim) == judged


@pytest.mark.parametrize("given", ["Strict", None, True, "all"])
def test_only_two_kinds_of_matchers(given: object) -> None:
    """Another word is refused with what is allowed."""
    with pytest.raises(errors.ConfigurationError, match="'strict' or 'first'"):
        matchers_of(given)
