"""Batches: what is collected, and what each step returns."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pytest_clawperator.client.batch import Batch
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
    result_of,
    step_of,
)

BUY = {"id": f"{PACKAGE}:id/buy"}


# Of the client, what is no single action.
NOT_ACTIONS = {
    "batch", "close", "execute", "node", "pages", "pause", "run_artifact", "run_skill", "serial",
    "step", "timeout",
}  # fmt: skip


def test_actions_that_fit_are_sent_in_one_execution() -> None:
    """What fits goes out together, in order, each with an id of its own."""
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
    """Each call gives the step, and what its method gives outside a batch."""
    data = {
        "click": {"click_types": "click"},
        "read_text": lambda action: {"text": '["a","b"]' if action.params.all else "Tea"},
        "read_key_value_pair": {"value": "16"},
        "scroll": {"scroll_outcome": "moved"},
    }
    phone = Phone(SHOP, data=data, picture=b"PNG")

    with client(phone).batch() as b:
        click = b.click(text="Tea")
        text = b.read_text(text="Tea")
        texts = b.read_all_text(text_contains="e")
        value = b.read_value("Version")
        outcome = b.scroll()
        snapshot = b.snapshot()
        picture = b.screenshot()

    assert click.result.data == {"click_types": "click"}
    assert click.value is click.result
    assert text.value == "Tea"
    assert text.result.action_type == "read_text"
    assert texts.value == ["a", "b"]
    assert value.value == "16"
    assert outcome.value.moved
    assert snapshot.value.find(text="Milk")
    assert picture.value == b"PNG"


def test_no_result_before_the_end() -> None:
    """Asking too early raises an error that explains it."""
    with client(Phone()).batch() as b:
        step = b.click(text="Tea")
        assert not step.done
        with pytest.raises(ConfigurationError, match="has no result"):
            _ = step.value

    assert step.done


def test_nothing_is_sent_if_the_block_raises() -> None:
    """A batch is all or nothing until it is sent."""
    phone = Phone()

    with pytest.raises(ZeroDivisionError), client(phone).batch() as b:  # noqa: PT012 - a batch fails at its end
        b.click(text="Tea")
        _ = 1 // 0

    assert phone.executions == []


def test_an_empty_batch_sends_nothing() -> None:
    """There is nothing to send."""
    phone = Phone()

    with client(phone).batch():
        pass

    assert phone.executions == []


def test_outside_the_block() -> None:
    """A batch collects inside its block only."""
    batch = client(Phone()).batch()

    with pytest.raises(ConfigurationError, match="outside the batch's block"):
        batch.click(text="Tea")


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
    ("read_text", (), {"text": "Tea", "pattern": "x", "within": BUY}),
    ("read_all_text", (), {"text": "Tea", "within": BUY}),
    ("read_value", ("Tea",), {"timeout": 2}),
    ("wait_for_node", (), {"role": "button"}),
    ("wait_for_navigation", (), {"package": "com.a", "text": "Tea"}),
    ("scroll", ("up",), {"within": BUY}),
    ("scroll_until", (), {"text": "Tea", "click": True, "direction": "left", "within": BUY}),
    ("scroll_and_click", (), {"text": "Tea", "max_scrolls": 3, "direction": "up", "within": BUY}),
    ("scroll_to_top", (), {"within": BUY}),
]


@pytest.mark.parametrize(("name", "args", "keywords"), CALLS)
def test_the_same_is_sent(name: str, args: Any, keywords: Any) -> None:
    """A method sends in a batch what it sends outside, and gives the same."""
    data = {
        "read_text": {"text": "[]"},
        "scroll_until": {"termination_reason": "TARGET_FOUND"},
    }
    alone, together = (Phone(SHOP, data=data, picture=b"PNG") for _ in range(2))

    value = getattr(first(alone), name)(*args, **keywords)
    with first(together).batch() as b:
        step = getattr(b, name)(*args, **keywords)

    assert together.sent == alone.sent
    if name != "snapshot":
        assert step.value == value


def test_every_call_is_compared() -> None:
    """No action is left out above."""
    assert {name for name, _, _ in CALLS} == public(Batch)


def test_steps_and_batches_say_what_they_are() -> None:
    """A debugger shows something readable."""
    with client(Phone()).batch() as b:
        step = b.click(text="Tea")
        before = repr(step)

    assert repr(b) == "<Batch of 1 on phone-1>"
    assert before == "<BatchStep click node(text='Tea'): not done>"
    assert repr(step) == "<BatchStep click node(text='Tea'): step \"click-1\" (click) succeeded>"


def public(cls: type) -> set[str]:
    """Return the names of a class's public methods."""
    return {name for name, _ in inspect.getmembers(cls, callable) if not name.startswith("_")}


def test_every_action_is_there() -> None:
    """What the client can do, a batch can."""
    assert public(Clawperator) - NOT_ACTIONS == public(Batch)


@pytest.mark.parametrize("name", sorted(public(Batch)))
def test_arguments_are_the_clients(name: str) -> None:
    """A method of a batch takes no argument that the client's does not take the same way."""
    mine = inspect.signature(getattr(Batch, name)).parameters
    theirs = inspect.signature(getattr(Clawperator, name)).parameters

    assert {key: theirs.get(key) for key in mine} == dict(mine)


def test_a_batch_is_used_once() -> None:
    """A second block would send the actions of the first again."""
    phone = Phone()
    batch = client(phone).batch()
    with batch as b:
        b.home()

    with pytest.raises(ConfigurationError, match="was used before"), batch as b:
        b.back()

    assert phone.types == [["press_key"]]


def test_a_long_sleep_is_split() -> None:
    """As outside a batch, what one action may not sleep is slept in parts."""
    phone = Phone()

    with client(phone).batch() as b:
        b.sleep(200)

    slept = [action["params"]["durationMs"] for sent in phone.sent for action in sent]
    assert sum(slept) == 200_000
    assert len(slept) > 1


def test_gestures_are_passed_on() -> None:
    """A scroll in a batch takes the same gesture options as one outside."""
    phone = Phone(data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})

    with first(phone).batch() as b:
        b.scroll(distance_ratio=0.2, settle_delay=0.1)
        b.scroll_until(text="Tea", distance_ratio=0.2, settle_delay=0.1, timeout=1)
        b.scroll_and_click(text="Tea", distance_ratio=0.2, settle_delay=0.1)

    sent = [action["params"] for action in phone.sent[0]]
    assert [(p["distanceRatio"], p["settleDelayMs"]) for p in sent] == [(0.2, 100)] * 3


class TestSplitting:
    """One execution where it fits, several where it must be."""

    def test_at_fifty_actions(self) -> None:
        """No more than fifty actions are sent together."""
        phone = Phone()

        with client(phone).batch() as b:
            steps = [b.back() for _ in range(101)]

        assert [len(sent) for sent in phone.sent] == [50, 50, 1]
        assert all(step.result.success for step in steps)

    def test_split_at_the_largest_payload(self) -> None:
        """No more than the device takes is sent together."""
        phone = Phone()
        texts = ["é" * 500 for _ in range(150)]

        with first(phone, timeout=0).batch() as b:
            for text in texts:
                b.click(text_contains=text, desc="ü" * 500, desc_contains="ä" * 500)

        assert len(phone.sent) > 3
        assert all(len(e.to_json().encode()) <= 64_000 for e in phone.executions)
        assert sum(len(sent) for sent in phone.sent) == 150

    def test_split_at_the_longest_execution(self) -> None:
        """No execution may have to wait longer than it may last."""
        phone = Phone()

        with first(phone).batch() as b:
            for _ in range(5):
                b.click(text="Tea", timeout=30)

        assert [len(sent) for sent in phone.sent] == [3, 2]
        assert [e.timeout_ms for e in phone.executions] == [95_000, 65_000]

    def test_before_a_close_that_is_not_first(self) -> None:
        """A close_app happens before everything, so what comes before it goes out before."""
        phone = Phone()

        with client(phone).batch() as b:
            b.close_app("com.a")
            b.close_app("com.b")
            b.open_app("com.a")
            b.close_app("com.a")
            b.open_app("com.b")

        assert phone.types == [
            ["close_app", "close_app", "open_app"],
            ["close_app", "open_app"],
        ]

    def test_after_a_screenshot(self) -> None:
        """The picture is taken at the end of a run, so the run ends with it."""
        phone = Phone(picture=b"PNG")

        with client(phone).batch() as b:
            b.screenshot()
            b.screenshot()
            b.back()

        assert phone.types == [["take_screenshot"], ["take_screenshot"], ["press_key"]]

    def test_before_what_must_be_looked_up(self) -> None:
        """A short id is looked up on the screen that is there by then."""
        phone = Phone(SHOP)

        with first(phone).batch() as b:
            b.back()
            b.click(id="name")
            b.home()

        assert phone.types == [["press_key"], ["snapshot_ui"], ["click", "press_key"]]
        assert phone.params("click") == [{"matcher": {"resourceId": f"{PACKAGE}:id/name"}}]

    def test_not_for_a_node_of_a_snapshot(self) -> None:
        """A node that was seen already needs no looking up."""
        phone = Phone(SHOP)
        claw = client(phone)
        row = claw.snapshot().find_all(id="row")[1]

        with claw.batch() as b:
            b.back()
            b.click(text="Buy", within=row)

        assert phone.types == [["snapshot_ui"], ["press_key", "click"]]


def test_one_retry_object_for_a_long_wait() -> None:
    """A wait cannot be split inside a batch, so its pauses are longer."""
    phone = Phone()

    with client(phone).batch() as b:
        b.click(text="Tea", timeout=60)

    assert pauses_ms(phone.sent[0][0]["params"]["retry"]) == pytest.approx(60_000, abs=15)


def test_an_answer_from_the_screen() -> None:
    """What a snapshot shows is reported in a batch, too."""
    phone = Phone(SHOP)
    claw = client(phone)

    with claw.batch() as b:
        b.back()
        price = b.read_text(id="price", within=claw.node(id="row").nth(1))

    assert price.value == "$2"
    assert price.result.action_type == "snapshot_ui"
    assert phone.types == [["press_key"], ["snapshot_ui"]]


class TestMistakes:
    """A mistake raises at the line where it was made."""

    @pytest.mark.parametrize(
        ("method", "args", "keywords"),
        [
            ("click", (), {"text": "x" * 600}),
            ("press_key", ("enter",), {}),
            ("enter_text", (" ",), {"text": "Tea"}),
        ],
    )
    def test_judged_at_once(self, method: str, args: Any, keywords: Any) -> None:
        """An action that breaks the contract is refused where it is written."""
        phone = Phone()

        with client(phone).batch() as b:
            b.back()
            with pytest.raises(ExecutionValidationError):
                getattr(b, method)(*args, **keywords)

        assert phone.types == [["press_key"]]

    def test_longer_than_an_execution(self) -> None:
        """One execution cannot wait for ever."""
        with (
            client(Phone()).batch() as b,
            pytest.raises(ConfigurationError, match="may wait 200 s"),
        ):
            b.click(text="Tea", timeout=200)

    def test_scrolling_to_what_must_be_looked_up(self) -> None:
        """What is not on the screen yet cannot be looked up."""
        with client(Phone()).batch() as b, pytest.raises(ConfigurationError, match="scroll_until"):
            b.scroll_until(id="name")


class TestFailures:
    """What is known when a step fails."""

    def test_a_soft_failure(self) -> None:
        """The failed step is named, with its screen; the steps before have their results."""
        data = {"read_text": {"text": "Tea"}, "click": {"error": "NODE_NOT_FOUND"}}
        claw = client(Phone(SHOP, data=data))

        with pytest.raises(NodeNotFoundError) as failed, claw.batch() as b:  # noqa: PT012 - a batch fails at its end
            text = b.read_text(text="Tea")
            click = b.click(text="tea", timeout=1)
            back = b.back()

        assert failed.value.message == (
            "step 2 of 3 of the batch: click: no node(text='tea') on the screen within 1 s"
        )
        assert failed.value.step.id == "click-2"
        assert failed.value.nearest[0].node.label == "Tea"
        assert text.value == "Tea"
        assert click.result.code is ErrorCode.NODE_NOT_FOUND
        assert not back.done

    def test_a_hard_failure(self) -> None:
        """Results that the Operator dropped are read from the log."""

        def answer(execution: Execution) -> RunResult:
            if execution.actions[0].type == "snapshot_ui":
                return Phone(SHOP).run(execution)
            return result_of(
                execution,
                error="Task execution failed: No UI node found matching criteria: …",
                recovered=(step_of(execution.actions[0], text="Tea"),),
                stopped_at=execution.actions[1],
            )

        claw = first(ScriptedRunner(answer))

        with pytest.raises(NodeNotFoundError) as failed, claw.batch() as b:  # noqa: PT012 - a batch fails at its end
            text = b.read_text(text="Tea")
            click = b.click(BUY, timeout=0)

        assert "step 2 of 2 of the batch: click: no node(id=" in failed.value.message
        assert failed.value.envelope.recovered[0].data == {"text": "Tea"}
        assert text.value == "Tea"
        assert not click.done

    def test_a_search_without_its_target(self) -> None:
        """A list that ended is not a success in a batch either."""
        claw = client(Phone(SHOP, data={"scroll_until": {"termination_reason": "EDGE_REACHED"}}))

        with pytest.raises(NodeNotFoundError) as failed, claw.batch() as b:  # noqa: PT012 - at its end
            b.back()
            search = b.scroll_until(text="Wine")
            b.home()

        assert failed.value.message.startswith("step 2 of 3 of the batch: scroll_until: no node")
        assert search.result.code is ErrorCode.TARGET_NOT_FOUND

    def test_an_unknown_failure(self) -> None:
        """If it is unknown which step failed, none is blamed."""
        runner = ScriptedRunner(lambda e: result_of(e, error="Task execution failed: odd"))
        claw = client(runner)

        with pytest.raises(StepFailedError) as failed, claw.batch() as b:  # noqa: PT012 - a batch fails at its end
            b.back()
            b.home()

        assert failed.value.message == "one of 2 steps of the batch: Task execution failed: odd"

    def test_nothing_is_sent_after_a_failure(self) -> None:
        """What was to follow in another execution is not sent."""
        phone = Phone(data={"press_key": {"error": "GLOBAL_ACTION_FAILED"}})

        with pytest.raises(StepFailedError), client(phone).batch() as b:  # noqa: PT012 - a batch fails at its end
            b.back()
            b.close_app("com.a")

        assert phone.types == [["press_key"]]


def test_a_failed_step_has_no_value() -> None:
    """The value of a step that failed is its error, not the empty text."""
    phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})
    with pytest.raises(StepFailedError), client(phone).batch() as b:
        step = b.read_text(text="Tea", pattern="[0-9]+")

    with pytest.raises(StepFailedError) as failed:
        _ = step.value

    assert failed.value.code == ErrorCode.VALIDATOR_MISMATCH
    assert step.done
    assert step.result.data["raw_text"] == "Tea"


def test_what_the_log_does_not_tell_is_no_value() -> None:
    """A recovered step without its text raises instead of giving an empty one."""

    def answer(execution: Execution) -> RunResult:
        read = step_of(execution.actions[0]).model_copy(update={"is_recovered": True})
        return result_of(execution, error="No UI node found", recovered=(read,))

    with pytest.raises(NodeNotFoundError), first(ScriptedRunner(answer)).batch() as b:
        step = b.read_text(text="Tea")

    with pytest.raises(EnvelopeMalformedError, match="cannot be recovered from the log"):
        _ = step.value


class TestWhere:
    """Every failure says which step of the batch it was."""

    def test_a_node_that_is_looked_up(self) -> None:
        """A short id that is not there raises like any other."""
        with pytest.raises(NodeNotFoundError, match="step 2 of 2 of the batch: click"):  # noqa: SIM117, PT012
            with client(Phone(SHOP)).batch() as b:
                b.home()
                b.click(id="nope", timeout=0)

    def test_what_was_done_after_it(self) -> None:
        """A failure that stops nothing says so."""

        def answer(execution: Execution) -> RunResult:
            data = [{"error": "VALUE_NODE_NOT_FOUND"}, {}, {}]
            steps = [step_of(a, **d) for a, d in zip(execution.actions, data, strict=False)]
            return result_of(execution, steps)

        with pytest.raises(StepFailedError, match="the 2 steps after it were carried out"):  # noqa: SIM117, PT012
            with first(ScriptedRunner(answer)).batch() as b:
                b.read_value("Version", timeout=0)
                b.home()
                b.home()
