"""A plan decides how its action gets to the node, what is sent, and how the answer is read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client import plans
from pytest_clawperator.client.plans import Plan
from pytest_clawperator.client.target import Route, container_of
from pytest_clawperator.contracts.actions import PressKey
from pytest_clawperator.errors import (
    ClawperatorError,
    EnvelopeMalformedError,
    ExecutionValidationError,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunStep
from tests.doubles.runner import SHOP, Act, Phone, client, first

TEA = {"text": "Tea"}
SHORT = {"id": "list"}


@pytest.mark.parametrize(
    ("plan", "strict", "route"),
    [
        (plans.simple("home", PressKey("home")), False, Route.SENT),
        (plans.click("click", None, TEA), False, Route.SENT),
        (plans.click("click", None, TEA), True, Route.PROVED),
        (plans.click("click", None, SHORT), False, Route.COMPLETED),
        (plans.click("click", None, TEA, within={"text": "a"}), False, Route.LOOKED_UP),
        (plans.read_text(None, TEA, within={"text": "a"}), False, Route.LOOKED_UP),
        (plans.read_all_text(None, SHORT), False, Route.LOOKED_UP),
        (plans.read_all_text(None, TEA), True, Route.SENT),
        (plans.scroll("down", None), False, Route.SENT),
        (plans.scroll("down", container_of({"text": "5 %"}, verb="s")), False, Route.LOOKED_UP),
    ],
)
def test_the_route_of_a_plan(plan: Plan[object], strict: bool, route: Route) -> None:
    """What is inside another node is looked up; a strict plan about one node is proved."""
    assert plan.route(strict=strict) is route
    assert route.needs_snapshot == (route in (Route.COMPLETED, Route.LOOKED_UP))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        # The Operator would refuse blank text without an answer.
        *[(lambda claw, value=value: claw.enter_text(value, text="Tea"), r"\.clear\(\)")
          for value in ("", " ", "\n")],
        (lambda claw: claw.click(at=(1, 2), text="Tea"), "which is meant"),
        (lambda claw: claw.click(at=(1, 2), within=TEA), "which is meant"),
        (lambda claw: claw.click(claw.node(text="Tea"), at=(1, 2)), "which is meant"),
        (lambda claw: claw.wait_for_navigation(id="title"), "whole id"),
        (lambda claw: claw.read_text(text="x", validator="version", pattern="zzz"), "Give either"),
        (lambda claw: claw.read_text(text="x", validator="versionn"), "Did you mean 'version'"),
        (lambda claw: claw.scroll_and_click(text="Tea", max_scrolls=0), "1 to 50 times"),
        (lambda claw: claw.scroll_and_click(text="Tea", max_scrolls=51), r"scroll_until\(\.\.\."),
    ],
)  # fmt: skip
def test_what_the_device_would_not_do_is_refused(act: Act, message: str) -> None:
    """Before anything is sent, with what would do."""
    phone = Phone(SHOP)

    with pytest.raises(ClawperatorError, match=message):
        act(client(phone))

    assert phone.executions == []


def test_a_point_is_two_whole_numbers() -> None:
    """The validation of the payload says so."""
    with pytest.raises(ExecutionValidationError) as refused:
        client(Phone()).click(at=(1.5, -2))  # type: ignore[arg-type]

    assert [problem.path for problem in refused.value.problems] == [
        "actions.0.params.coordinate.x",
        "actions.0.params.coordinate.y",
    ]


def test_navigation_is_split_at_the_operators_limit() -> None:
    """Thirty seconds is the most that one wait may last."""
    phone = Phone(data={"wait_for_navigation": {"error": "NAVIGATION_TIMEOUT"}})

    with pytest.raises(StepFailedError):
        client(phone).wait_for_navigation(package="com.a", timeout=45)

    waits = [params["timeoutMs"] for params in phone.params("wait_for_navigation")]
    assert waits == [30_000, pytest.approx(15_000, abs=100)]


@pytest.mark.parametrize(
    ("act", "data", "value", "params"),
    [
        (lambda claw: claw.read_text(text="Tea"), {"text": "a", "validator": "none"}, "a", {}),
        (lambda claw: claw.read_text(text="Tea", validator="version"), {"text": "1"}, "1",
         {"validator": "version"}),
        (lambda claw: claw.read_text(text="Tea", pattern="[0-9]+"), {"text": "1"}, "1",
         {"validator": "regex", "validatorPattern": "[0-9]+"}),
        (lambda claw: claw.read_text(text="Tea", validator="regex", pattern="x"), {"text": "x"},
         "x", {"validator": "regex", "validatorPattern": "x"}),
        # The Operator's list may have raw line breaks in it.
        (lambda claw: claw.read_all_text(text="Tea"), {"text": '["a","say \\"b\\"","c\nd"]'},
         ["a", 'say "b"', "c\nd"], {"all": True}),
    ],
)  # fmt: skip
def test_reading_texts(act: Act, data: Any, value: object, params: Any) -> None:
    """A pattern alone is a validator, too."""
    phone = Phone(data={"read_text": data})

    assert act(first(phone)) == value
    assert phone.params("read_text") == [{"matcher": {"textEquals": "Tea"}, **params}]


@pytest.mark.parametrize("text", ["", "[", "5"])
def test_a_list_that_cannot_be_read(text: str) -> None:
    """The error has the raw answer."""
    with pytest.raises(EnvelopeMalformedError) as broken:
        client(Phone(data={"read_text": {"text": text}})).read_all_text(text_contains="e")

    assert broken.value.details == {"text": text}


def test_a_text_of_another_form_is_shown_with_the_form() -> None:
    """Both the text and the pattern are in the message."""
    phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})

    with pytest.raises(StepFailedError) as failed:
        client(phone).read_text(text="Tea", pattern="[0-9]", timeout=0)

    assert "it reads 'Tea', wanted a text that matches '[0-9]'" in failed.value.message


@pytest.mark.parametrize(
    "act",
    [
        lambda claw: claw.read_value("Version"),
        lambda claw: claw.read_value(label="Version"),
        lambda claw: claw.read_value(text="Version"),
        lambda claw: claw.read_value({"text": "Version"}),
        lambda claw: claw.read_value(label={"text": "Version"}),
    ],
)
def test_reading_a_value(act: Act) -> None:
    """A label is a text, or any other description of a node."""
    phone = Phone(data={"read_key_value_pair": {"label": "Version", "value": "16"}})

    assert act(client(phone)) == "16"
    assert phone.params("read_key_value_pair") == [{"labelMatcher": {"textEquals": "Version"}}]


@pytest.mark.parametrize(("scrolls", "duration"), [(1, 10_000), (20, 20_000), (200, 100_000)])
def test_time_for_a_search(scrolls: int, duration: int) -> None:
    """A search gets no less than the Operator's own limit, and no more than a run can last."""
    phone = Phone()

    client(phone).scroll_until(max_scrolls=scrolls)

    assert phone.params("scroll_until")[0]["maxDurationMs"] == duration
    assert phone.executions[0].timeout_ms > duration


def step(**data: str) -> RunStep:
    """Make the step of a scroll."""
    wire = {"id": "s", "actionType": "scroll", "success": True, "data": data}
    return RunStep.model_validate(wire)


@pytest.mark.parametrize(("reported", "moved"), [("moved", True), ("edge_reached", False)])
def test_a_gesture_moved_or_met_the_edge(reported: str, moved: bool) -> None:
    """The outcome is true if anything moved."""
    outcome = plans.outcome_of_scroll(step(scroll_outcome=reported, direction="up"))

    assert bool(outcome) is outcome.moved is moved
    assert outcome.edge_reached is not moved
    assert outcome.direction == "up"


@pytest.mark.parametrize(
    ("reason", "scrolls", "moved", "found"),
    [
        ("EDGE_REACHED", "1", False, None),  # the gesture that meets the edge moves nothing
        ("EDGE_REACHED", "2", True, None),
        ("MAX_SCROLLS_REACHED", "20", True, None),
        ("NO_POSITION_CHANGE", "0", False, None),
        ("MAX_DURATION_REACHED", "many", False, None),
        ("TARGET_FOUND", "0", False, True),
        ("EDGE_REACHED", "5", True, False),
    ],
)
def test_a_series_of_gestures(reason: str, scrolls: str, moved: bool, found: bool | None) -> None:
    """The outcome is true if the node was found, or if anything moved where none was wanted."""
    data = step(termination_reason=reason, scrolls_executed=scrolls, direction="down")

    outcome = plans.outcome_of_scroll_until(data, has_target=found is not None)

    assert (outcome.moved, outcome.found) == (moved, found)
    assert bool(outcome) is (moved if found is None else found)
    assert outcome.edge_reached is (reason == "EDGE_REACHED")
    assert outcome.termination_reason == reason


def test_a_search_that_ended_with_a_tap() -> None:
    """The device does not report whether anything moved, and writes the direction in capitals."""
    outcome = plans.outcome_of_scroll_and_click(step(direction="Down"))

    assert outcome
    assert (outcome.moved, outcome.direction) == (None, "down")
