"""Batches: what is collected, and what each step returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.batch import Batch, BatchStep
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.params import pauses_ms
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import (
    ConfigurationError,
    EnvelopeMalformedError,
    ErrorCode,
    ExecutionValidationError,
    NodeNotFoundError,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunResult
from tests.doubles.runner import (
    PACKAGE,
    SHOP,
    Phone,
    ScriptedRunner,
    client,
    first,
    node,
    result_of,
    screen,
    step_of,
)

BUY = {"id": f"{PACKAGE}:id/buy"}
LIST = {"id": f"{PACKAGE}:id/list"}
Collect = Callable[[Batch], Any]

# Methods of the client that are not single actions.
NOT_ACTIONS = {
    "batch", "close", "execute", "expecting_crash", "node", "pages", "pause", "run_artifact",
    "run_skill", "serial", "step", "timeout",
}  # fmt: skip


def send(claw: Clawperator, *calls: Collect) -> list[BatchStep[Any]]:
    """Make calls in a batch, and return their steps."""
    with claw.batch() as b:
        return [call(b) for call in calls]


def fail(claw: Clawperator, *calls: Collect) -> tuple[StepFailedError, list[BatchStep[Any]]]:
    """Make calls in a batch that fails; return the error and the steps."""
    steps: list[BatchStep[Any]] = []
    with pytest.raises(StepFailedError) as failed, claw.batch() as b:
        steps.extend(call(b) for call in calls)
    return failed.value, steps


def test_actions_that_fit_are_sent_in_one_execution() -> None:
    """They go out together at the end of the block, in order, each with its own id."""
    phone = Phone(SHOP, data={"read_text": {"text": "Tea"}})

    with first(phone).batch() as b:
        b.open_app("com.a")
        b.click(text="Tea")
        b.read_text(text="Tea")
        b.back()
        assert phone.executions == []

    assert [[action["id"] for action in sent] for sent in phone.sent] == [
        ["open_app-1", "click-2", "read_text-3", "press_key-4"]
    ]


def test_results_are_handed_back() -> None:
    """Each step has its result, and the value that its method returns outside a batch."""
    data = {
        "click": {"click_types": "click"},
        "read_text": lambda action: {"text": '["a","b"]' if action.params.all else "Tea"},
        "read_key_value_pair": {"value": "16"},
        "scroll": {"scroll_outcome": "moved"},
    }

    click, text, texts, value, outcome, snapshot, picture = send(
        client(Phone(SHOP, data=data, picture=b"PNG")),
        lambda b: b.click(text="Tea"),
        lambda b: b.read_text(text="Tea"),
        lambda b: b.read_all_text(text_contains="e"),
        lambda b: b.read_value("Version"),
        lambda b: b.scroll(),
        lambda b: b.snapshot(),
        lambda b: b.screenshot(),
    )

    assert click.result.data == {"click_types": "click"}
    assert click.value is click.result
    assert text.result.action_type == "read_text"
    assert [text.value, texts.value, value.value] == ["Tea", ["a", "b"], "16"]
    assert outcome.value.moved
    assert snapshot.value.find(text="Milk")
    assert picture.value == b"PNG"


def test_a_step_is_no_value() -> None:
    """Neither true nor false, nor comparable with a value: that would pass or fail unseen."""
    phone = Phone(SHOP, data={"read_text": {"text": "Tea"}})
    with client(phone).batch() as b:
        step = b.read_text(text="Tea")
        asked: list[Callable[[], object]] = [
            lambda: bool(step),
            lambda: not step,
            lambda: step == "Tea",
            lambda: step != "Milk",
            lambda: step == ["Tea"],
        ]
        for ask in asked:
            with pytest.raises(ConfigurationError, match=r"read_text .* is a step of a batch"):
                ask()

    for ask in asked:
        with pytest.raises(ConfigurationError, match="a step of a batch") as refused:
            ask()
        assert ".value" in str(refused.value.hint)
    assert step == step
    assert len({step, step}) == 1


def test_there_is_no_result_before_the_end() -> None:
    """Asking too early raises an error that explains it; a debugger shows the state."""
    with client(Phone()).batch() as b:
        step = b.click(text="Tea")
        assert (step.done, repr(step)) == (False, "<BatchStep click node(text='Tea'): not done>")
        with pytest.raises(ConfigurationError, match="has no result"):
            _ = step.value

    assert step.done
    assert repr(b) == "<Batch of 1 on phone-1>"
    assert repr(step) == "<BatchStep click node(text='Tea'): step \"click-1\" (click) succeeded>"


def test_nothing_is_sent_if_the_block_raises() -> None:
    """Nor if it is empty."""
    phone = Phone()

    send(client(phone))
    with pytest.raises(ZeroDivisionError):
        send(client(phone), lambda b: b.click(text="Tea"), lambda b: 1 // 0)

    assert phone.executions == []


def test_a_batch_collects_in_one_block_only() -> None:
    """A second block would send the actions of the first again."""
    phone = Phone()
    batch = client(phone).batch()

    with pytest.raises(ConfigurationError, match="outside the batch's block"):
        batch.click(text="Tea")
    with batch as b:
        b.home()
    with pytest.raises(ConfigurationError, match="was used before"), batch as b:
        b.back()

    assert phone.executed == ["press_key"]


GESTURE = {"distance_ratio": 0.2, "settle_delay": 0.1}
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("open_app", ("com.a",), {}),
    ("close_app", ("com.a",), {}),
    ("open_uri", ("shop://cart",), {}),
    ("press_key", ("home",), {}),
    ("back", (), {}),
    ("home", (), {}),
    ("recents", (), {}),
    ("sleep", (0.5,), {}),
    ("start_recording", ("s1",), {}),
    ("stop_recording", ("s1",), {}),
    ("snapshot", (), {"timeout": 1}),
    ("screenshot", (), {}),
    ("click", (), {"text": "Tea", "timeout": 1}),
    ("click", (), {"at": (1, 2)}),
    ("long_click", (BUY,), {"timeout": 0}),
    ("focus", (), {"desc": "Tea"}),
    ("enter_text", ("hi", BUY), {"submit": True}),
    ("read_text", (), {"text": "Tea", "pattern": "x"}),
    ("read_all_text", (), {"text": "Tea", "within": LIST}),
    ("read_value", ("Tea",), {"timeout": 2}),
    ("wait_for_node", (), {"role": "button"}),
    ("wait_for_navigation", (), {"package": "com.a", "text": "Tea"}),
    ("scroll", ("up",), {"within": BUY, **GESTURE}),
    ("scroll_until", (), {"text": "Tea", "click": True, "direction": "left", "within": BUY}),
    ("scroll_until", (), {"text": "Tea", "timeout": 1, **GESTURE}),
    ("scroll_and_click", (), {"text": "Tea", "max_scrolls": 3, "within": BUY, **GESTURE}),
    ("scroll_to_top", (), {"within": BUY}),
]


@pytest.mark.parametrize(("name", "args", "keywords"), CALLS)
def test_the_same_is_sent(name: str, args: Any, keywords: Any) -> None:
    """A method sends in a batch what it sends outside, and returns the same."""
    data = {
        "read_text": {"text": "[]"},
        "scroll_until": {"termination_reason": "TARGET_FOUND"},
    }
    alone, together = (Phone(SHOP, data=data, picture=b"PNG") for _ in range(2))

    value = getattr(first(alone), name)(*args, **keywords)
    (step,) = send(first(together), lambda b: getattr(b, name)(*args, **keywords))

    assert together.sent == alone.sent
    if name != "snapshot":
        assert step.value == value


def public(cls: type) -> set[str]:
    """Return the names of a class's public methods."""
    return {name for name, _ in inspect.getmembers(cls, callable) if not name.startswith("_")}


def test_every_action_of_the_client_is_there() -> None:
    """With the same arguments; and each is compared above."""
    assert public(Clawperator) - NOT_ACTIONS == public(Batch) == {name for name, _, _ in CALLS}
    for name in public(Batch):
        mine = inspect.signature(getattr(Batch, name)).parameters
        theirs = inspect.signature(getattr(Clawperator, name)).parameters
        assert {key: theirs.get(key) for key in mine} == dict(mine), name


# In how many executions


@pytest.mark.parametrize(
    ("calls", "sent"),
    [
        pytest.param([lambda b: b.back()] * 101,
                     [" ".join(["press_key"] * 50)] * 2 + ["press_key"], id="50 actions at most"),
        pytest.param([lambda b: b.click(text="Tea", timeout=30)] * 5,
                     ["click click click", "click click"], id="two minutes at most"),
        pytest.param([lambda b: b.close_app("com.a"), lambda b: b.close_app("com.b"),
                      lambda b: b.open_app("com.a"), lambda b: b.close_app("com.a"),
                      lambda b: b.open_app("com.b")],
                     ["close_app close_app open_app", "close_app open_app"],
                     id="a close_app is carried out before everything else"),
        pytest.param([lambda b: b.screenshot(), lambda b: b.screenshot(), lambda b: b.back()],
                     ["take_screenshot", "take_screenshot", "press_key"],
                     id="the picture is taken at the end of a run"),
        pytest.param([lambda b: b.back(), lambda b: b.click(id="name"), lambda b: b.home()],
                     ["press_key", "snapshot_ui", "click press_key"],
                     id="a short id is looked up when its turn comes"),
        pytest.param([lambda b: b.home(), lambda b: b.click(text=re.compile("^Mi"))],
                     ["press_key", "snapshot_ui", "click"], id="so is a pattern"),
        pytest.param([lambda b: b.sleep(200)], ["sleep", "sleep", "sleep sleep"],
                     id="a long sleep is split"),
    ],
)  # fmt: skip
def test_a_batch_is_split_where_it_must_be(calls: list[Collect], sent: list[str]) -> None:
    """Each step has its result."""
    phone = Phone(SHOP, picture=b"PNG")

    steps = send(first(phone), *calls)

    assert phone.executed == sent
    assert all(step.result.success for step in steps)


def test_no_execution_is_too_large() -> None:
    """No more is sent together than the device takes."""
    phone = Phone()

    with first(phone, timeout=0).batch() as b:
        for _ in range(150):
            b.click(text_contains="é" * 500, desc="ü" * 500, desc_contains="ä" * 500)

    assert len(phone.sent) > 3
    assert all(len(e.to_json().encode()) <= 64_000 for e in phone.executions)
    assert sum(len(sent) for sent in phone.sent) == 150


def test_a_node_of_a_snapshot_needs_no_lookup() -> None:
    """It was seen already."""
    phone = Phone(SHOP)
    claw = client(phone)
    row = claw.snapshot().find_all(id="row")[1]

    send(claw, lambda b: b.back(), lambda b: b.click(text="Buy", within=row))

    assert phone.executed == ["snapshot_ui", "press_key click"]


def test_a_long_wait_is_one_retry_object() -> None:
    """A wait cannot be split inside a batch, so its pauses are longer."""
    phone = Phone()

    send(client(phone), lambda b: b.click(text="Tea", timeout=60))

    assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == pytest.approx(60_000, abs=15)


def test_a_value_may_come_from_a_snapshot() -> None:
    """What had to be looked up is read from the same snapshot."""
    phone = Phone(SHOP)
    claw = client(phone)
    row = claw.node(id="row").nth(1)

    _, price = send(claw, lambda b: b.back(), lambda b: b.read_text(id="price", within=row))

    assert (price.value, price.result.action_type) == ("$2", "snapshot_ui")
    assert phone.executed == ["press_key", "snapshot_ui"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.click(text="x" * 600), ExecutionValidationError, ""),
        (lambda b: b.press_key("enter"), ExecutionValidationError, ""),
        (lambda b: b.enter_text(" ", text="Tea"), ExecutionValidationError, ""),
        (lambda b: b.click(text="Tea", timeout=200), ConfigurationError, "may wait 200 s"),
        (lambda b: b.scroll_until(id="name"), ConfigurationError, "scroll_until"),
        (lambda b: b.scroll_until(text=re.compile("x")), ConfigurationError, "no pattern"),
    ],
)
def test_a_mistake_raises_where_it_was_made(
    call: Collect, error: type[Exception], message: str
) -> None:
    """What cannot be sent is refused at its line; the rest of the batch is sent."""
    phone = Phone()

    with client(phone).batch() as b:
        b.back()
        with pytest.raises(error, match=message or None):
            call(b)

    assert phone.executed == ["press_key"]


# Failures


def test_the_failed_step_is_named() -> None:
    """With its screen; the steps before it have their results."""
    data = {"read_text": {"text": "Tea"}, "click": {"error": "NODE_NOT_FOUND"}}

    error, (text, click, back) = fail(
        client(Phone(SHOP, data=data)),
        lambda b: b.read_text(text="Tea"),
        lambda b: b.click(text="tea", timeout=1),
        lambda b: b.back(),
    )

    assert error.message == (
        "step 2 of 3 of the batch: click: no node(text='tea') on the screen within 1 s"
    )
    assert error.step.id == "click-2"
    assert error.nearest[0].node.label == "Tea"
    assert text.value == "Tea"
    assert click.result.code is ErrorCode.NODE_NOT_FOUND
    assert not back.done


def test_results_that_the_operator_dropped_are_read_from_the_log() -> None:
    """As far as the log has them."""

    def answer(execution: Execution) -> RunResult:
        if execution.actions[0].type == "snapshot_ui":
            return Phone(SHOP).run(execution)
        unread = step_of(execution.actions[1]).model_copy(update={"is_recovered": True})
        return result_of(
            execution,
            error="Task execution failed: No UI node found matching criteria: …",
            recovered=(step_of(execution.actions[0], text="Tea"), unread),
            stopped_at=execution.actions[2],
        )

    error, (text, unread, click) = fail(
        first(ScriptedRunner(answer)),
        lambda b: b.read_text(text="Tea"),
        lambda b: b.read_text(text="Tea"),
        lambda b: b.click(BUY, timeout=0),
    )

    assert isinstance(error, NodeNotFoundError)
    assert "step 3 of 3 of the batch: click: no node(id=" in error.message
    assert error.envelope.recovered[0].data == {"text": "Tea"}
    assert (text.value, click.done) == ("Tea", False)
    with pytest.raises(EnvelopeMalformedError, match="cannot be recovered from the log"):
        _ = unread.value


@pytest.mark.parametrize(
    ("data", "calls", "code", "message"),
    [
        ({"scroll_until": {"termination_reason": "EDGE_REACHED"}},
         [lambda b: b.back(), lambda b: b.scroll_until(text="Wine")], "TARGET_NOT_FOUND",
         "step 2 of 2 of the batch: scroll_until: no node"),
        ({}, [lambda b: b.home(), lambda b: b.click(id="nope", timeout=0)], "NODE_NOT_FOUND",
         "step 2 of 2 of the batch: click"),
        # What was to follow in another execution is not sent.
        ({"press_key": {"error": "GLOBAL_ACTION_FAILED"}, "close_app": {"error": "no"}},
         [lambda b: b.back(), lambda b: b.close_app("com.a")], "GLOBAL_ACTION_FAILED",
         "step 1 of 2 of the batch"),
    ],
)  # fmt: skip
def test_every_failure_names_its_step(
    data: dict[str, Any], calls: list[Collect], code: str, message: str
) -> None:
    """Also that of a search without its target, and of a node that is looked up."""
    error, _ = fail(client(Phone(SHOP, data=data)), *calls)

    assert error.code == code
    assert error.message.startswith(message)


@pytest.mark.parametrize("connect", [client, first])
def test_an_obstacle_is_not_waited_for(connect: Callable[[Phone], Clawperator]) -> None:
    """So the error does not say that it was."""
    disabled = screen(node(text="Pay", kind="Button", clickable=True, enabled=False))
    phone = Phone(disabled, data={"click": {"error": "NODE_NOT_CLICKABLE"}})

    error, _ = fail(connect(phone), lambda b: b.click(text="Pay", timeout=2))

    assert "click node(text='Pay'): it is disabled\n" in error.message
    assert str(error.hint).startswith("Check what enables it; expect(node).to_be_enabled() waits")


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "one of 3 steps of the batch: Task execution failed: odd"),
        ([{"error": "VALUE_NODE_NOT_FOUND"}, {}, {}], "the 2 steps after it were carried out"),
        ([{"error": "VALUE_NODE_NOT_FOUND"}, {}], "the step after it was carried out"),
    ],
)
def test_a_failure_may_not_stop_the_batch(results: Any, message: str) -> None:
    """The error says what was carried out after it; without steps, no step is blamed."""

    def answer(execution: Execution) -> RunResult:
        if results is None:
            return result_of(execution, error="Task execution failed: odd")
        pairs = zip(execution.actions, results, strict=False)
        return result_of(execution, [step_of(action, **data) for action, data in pairs])

    read = [lambda b: b.read_value("Version", timeout=0)]
    error, _ = fail(first(ScriptedRunner(answer)), *read, *[lambda b: b.home()] * 2)

    assert message in error.message


def test_a_failed_step_has_no_value() -> None:
    """Its value is its error, not the empty text."""
    phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})
    _, (step,) = fail(client(phone), lambda b: b.read_text(text="Tea", pattern="[0-9]+"))

    with pytest.raises(StepFailedError) as failed:
        _ = step.value

    assert failed.value.code == ErrorCode.VALIDATOR_MISMATCH
    assert step.result.data["raw_text"] == "Tea"
