"""Batches: what is collected, and what each step returns."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pytest_clawperator.client.batch.batch import Batch
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ConfigurationError
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, first

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
    """Asking too early is told as such."""
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
    """A scroll of a batch is told as much about its gesture as one outside."""
    phone = Phone(data={"scroll_until": {"termination_reason": "TARGET_FOUND"}})

    with first(phone).batch() as b:
        b.scroll(distance_ratio=0.2, settle_delay=0.1)
        b.scroll_until(text="Tea", distance_ratio=0.2, settle_delay=0.1, timeout=1)
        b.scroll_and_click(text="Tea", distance_ratio=0.2, settle_delay=0.1)

    sent = [action["params"] for action in phone.sent[0]]
    assert [(p["distanceRatio"], p["settleDelayMs"]) for p in sent] == [(0.2, 100)] * 3
