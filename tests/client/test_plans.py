"""A plan decides how its action gets to the node, or a scroll to its list."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client import plans
from pytest_clawperator.client.plans import (
    Plan,
    outcome_of_scroll,
    outcome_of_scroll_and_click,
    outcome_of_scroll_until,
)
from pytest_clawperator.client.target import Route, container_of
from pytest_clawperator.contracts.actions import PressKey
from pytest_clawperator.errors import (
    ConfigurationError,
    EnvelopeMalformedError,
    ExecutionValidationError,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunStep
from tests.doubles.runner import SHOP, Phone, client

SHORT = {"id": "list"}


@pytest.mark.parametrize(
    ("plan", "route"),
    [
        (plans.simple("home", PressKey("home")), Route.SENT),
        (plans.click("click", None, {"text": "Tea"}), Route.SENT),
        (plans.click("click", None, SHORT), Route.COMPLETED),
        (plans.click("click", None, {"text": "Tea"}, within={"text": "a"}), Route.LOOKED_UP),
        (plans.read_text(None, {"text": "Tea"}, within={"text": "a"}), Route.SENT),
        (plans.read_all_text(None, SHORT), Route.LOOKED_UP),
        (plans.scroll("down", None), Route.SENT),
        (plans.scroll("down", container_of({"text": "5 %"}, verb="s")), Route.LOOKED_UP),
    ],
)
def test_the_route_depends_on_what_the_action_can_be_sent(plan: Plan[object], route: Route) -> None:
    """Only reads take a container; several nodes with a short id are looked up."""
    assert plan.route(strict=False) is route


def test_only_a_strict_plan_about_one_node_is_proved() -> None:
    """If only one node may match, a snapshot is sent along, unless all matches are wanted."""
    click = plans.click("click", None, {"text": "Tea"})
    read_all = plans.read_all_text(None, {"text": "Tea"})

    assert click.route(strict=True) is Route.PROVED
    assert not click.route(strict=True).needs_snapshot
    assert read_all.route(strict=True) is Route.SENT


@pytest.mark.parametrize("value", ["", " ", "\n"])
def test_blank_text_is_refused_before_it_is_sent(value: str) -> None:
    """The Operator would refuse the whole payload in silence."""
    phone = Phone()

    with pytest.raises(ExecutionValidationError) as refused:
        client(phone).enter_text(value, text="Tea")

    assert ".clear()" in str(refused.value)
    assert phone.executions == []


@pytest.mark.parametrize("extra", [{"text": "Tea"}, {"within": {"text": "Tea"}}])
def test_a_point_and_a_node(extra: Any) -> None:
    """It is either a point or a node."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).click(at=(1, 2), **extra)

    assert "which is meant" in refused.value.message


def test_a_point_that_is_none() -> None:
    """A point is two whole numbers; the payload's judge says so."""
    with pytest.raises(ExecutionValidationError) as refused:
        client(Phone()).click(at=(1.5, -2))  # type: ignore[arg-type]

    assert [problem.path for problem in refused.value.problems] == [
        "actions.0.params.coordinate.x",
        "actions.0.params.coordinate.y",
    ]


def test_navigation_to_what_cannot_be_looked_up() -> None:
    """A short id of a screen that is still to come is refused with what would do."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).wait_for_navigation(id="title")

    assert "whole id" in str(refused.value.hint)


def test_navigation_is_split_at_the_operators_limit() -> None:
    """Thirty seconds is the most that one wait may last."""
    phone = Phone(data={"wait_for_navigation": {"error": "NAVIGATION_TIMEOUT"}})

    with pytest.raises(AssertionError):
        client(phone).wait_for_navigation(package="com.a", timeout=45)

    waits = [params["timeoutMs"] for params in phone.params("wait_for_navigation")]
    assert waits[0] == 30_000
    assert 0 < waits[1] <= 15_000
    assert len(waits) == 2


def test_a_point_and_a_locator() -> None:
    """A tap with both a point and a locator is refused."""
    claw = client(Phone(SHOP))

    with pytest.raises(ConfigurationError, match="which is meant"):
        claw.click(claw.node(text="Tea"), at=(1, 2))


TEA = {"textEquals": "Tea"}


def test_reading_a_text() -> None:
    """A read gives the text."""
    phone = Phone(data={"read_text": {"text": "Tea", "validator": "none"}})

    assert client(phone).read_text(text_contains="e") == "Tea"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"validator": "version"}, {"validator": "version"}),
        ({"pattern": "[0-9]+"}, {"validator": "regex", "validatorPattern": "[0-9]+"}),
        (
            {"validator": "regex", "pattern": "x"},
            {"validator": "regex", "validatorPattern": "x"},
        ),
    ],
)
def test_reading_a_text_of_a_form(given: Any, sent: Any) -> None:
    """A pattern alone is a validator, too."""
    phone = Phone(data={"read_text": {"text": "1"}})

    client(phone).read_text(text="Tea", **given)

    assert phone.params("read_text") == [{"matcher": TEA, **sent}]


def test_reading_all_texts() -> None:
    """The Operator's list is read even where a text holds a raw line break."""
    phone = Phone(data={"read_text": {"text": '["a","say \\"b\\"","c\nd"]', "all": "true"}})

    texts = client(phone).read_all_text(text_contains="e")

    assert texts == ["a", 'say "b"', "c\nd"]
    assert phone.params("read_text")[0]["all"] is True


@pytest.mark.parametrize("text", ["", "[", "5"])
def test_a_list_that_cannot_be_read(text: str) -> None:
    """The error for an unreadable list has the raw answer."""
    phone = Phone(data={"read_text": {"text": text}})

    with pytest.raises(EnvelopeMalformedError) as broken:
        client(phone).read_all_text(text_contains="e")

    assert broken.value.details == {"text": text}


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        (("Version",), {}),
        ((), {"label": "Version"}),
        ((), {"text": "Version"}),
        (({"text": "Version"},), {}),
        ((), {"label": {"text": "Version"}}),
    ],
)
def test_reading_a_value(args: Any, keywords: Any) -> None:
    """A label is a text, or whatever else a node may be said by."""
    phone = Phone(data={"read_key_value_pair": {"label": "Version", "value": "16"}})

    assert client(phone).read_value(*args, **keywords) == "16"
    assert phone.params("read_key_value_pair") == [{"labelMatcher": {"textEquals": "Version"}}]


class TestValidators:
    """What a text must look like is judged before it is read, and said when it does not."""

    @pytest.mark.parametrize("validator", ["version", "temperature"])
    def test_not_with_a_pattern(self, validator: Any) -> None:
        """A validator has a form of its own, so a pattern would be ignored."""
        with pytest.raises(ConfigurationError, match="Give either"):
            client(Phone()).read_text(text="x", validator=validator, pattern="zzz")

    def test_an_unknown_one(self) -> None:
        """The hint for a misspelt validator names the likely one."""
        with pytest.raises(ConfigurationError, match="Did you mean 'version'"):
            client(Phone()).read_text(text="x", validator="versionn")  # type: ignore[arg-type]

    def test_the_error_says_what_was_wanted(self) -> None:
        """Both the text and the pattern are in the message."""
        phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})

        with pytest.raises(StepFailedError) as failed:
            client(phone).read_text(text="Tea", pattern="[0-9]", timeout=0)

        assert "it reads 'Tea', wanted a text that matches '[0-9]'" in failed.value.message


@pytest.mark.parametrize(("scrolls", "duration"), [(1, 10_000), (20, 20_000), (200, 100_000)])
def test_time_for_a_search(scrolls: int, duration: int) -> None:
    """A search gets no less than the Operator's own limit, and no more than a run can last."""
    phone = Phone()

    client(phone).scroll_until(max_scrolls=scrolls)

    assert phone.params("scroll_until")[0]["maxDurationMs"] == duration
    assert phone.executions[0].timeout_ms > duration


@pytest.mark.parametrize("scrolls", [0, 51])
def test_more_swipes_than_the_operator_makes(scrolls: int) -> None:
    """What the Operator would quietly change is refused."""
    with pytest.raises(ConfigurationError, match="1 to 50 times") as refused:
        client(Phone()).scroll_and_click(text="Tea", max_scrolls=scrolls)

    assert "scroll_until" in str(refused.value.hint)


def step(**data: str) -> RunStep:
    """Make the step of a scroll."""
    wire = {"id": "s", "actionType": "scroll", "success": True, "data": data}
    return RunStep.model_validate(wire)


@pytest.mark.parametrize(("said", "moved"), [("moved", True), ("edge_reached", False)])
def test_a_gesture_moved_or_met_the_edge(said: str, moved: bool) -> None:
    """A gesture either moved something or met the edge."""
    outcome = outcome_of_scroll(step(scroll_outcome=said, direction="up"))

    assert bool(outcome) is outcome.moved is moved
    assert outcome.edge_reached is not moved
    assert outcome.direction == "up"


@pytest.mark.parametrize(
    ("reason", "scrolls", "moved"),
    [
        ("EDGE_REACHED", "1", False),
        ("EDGE_REACHED", "2", True),
        ("MAX_SCROLLS_REACHED", "20", True),
        ("NO_POSITION_CHANGE", "0", False),
        ("MAX_DURATION_REACHED", "many", False),
    ],
)
def test_a_loop_without_a_target(reason: str, scrolls: str, moved: bool) -> None:
    """The gesture that meets the edge moves nothing."""
    data = step(termination_reason=reason, scrolls_executed=scrolls, direction="down")

    outcome = outcome_of_scroll_until(data, has_target=False)

    assert bool(outcome) is outcome.moved is moved
    assert outcome.found is None
    assert outcome.edge_reached is (reason == "EDGE_REACHED")
    assert outcome.termination_reason == reason


def test_a_loop_that_found_its_target() -> None:
    """Found is true, even if nothing had to move for it."""
    data = step(termination_reason="TARGET_FOUND", scrolls_executed="0")

    outcome = outcome_of_scroll_until(data, has_target=True)

    assert outcome
    assert outcome.found is True
    assert outcome.moved is False


def test_a_search_that_ended_with_a_tap() -> None:
    """The device does not report whether anything moved, and writes the direction in capitals."""
    outcome = outcome_of_scroll_and_click(step(direction="Down"))

    assert outcome
    assert outcome.moved is None
    assert outcome.direction == "down"
