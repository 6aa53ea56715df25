"""Each limit of the contract holds at its exact number: the most is accepted, one more is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.contracts.payload import complete_execution, validate_execution
from pytest_clawperator.errors import ExecutionValidationError
from tests.contracts.builders import MATCHER_FIELDS, action, enough, paths, payload, refusal

Make = Callable[[Any], dict[str, Any]]


def param(name: str, type: str = "snapshot_ui") -> Make:
    """Return what makes a payload with one parameter set."""
    return lambda value: payload(enough(type, **{name: value}))


def matcher(name: str, field: str) -> Make:
    """Return what makes a payload with one field of one matcher set."""
    return lambda value: payload(action("snapshot_ui", **{name: {field: value}}))


LENGTHS: list[tuple[str, int, Make]] = [
    ("commandId", 128, lambda value: payload(commandId=value)),
    ("taskId", 128, lambda value: payload(taskId=value)),
    ("source", 64, lambda value: payload(source=value)),
    ("actions.0.id", 128, lambda value: payload({"id": value, "type": "snapshot_ui"})),
    ("actions.0.params.uri", 2048, param("uri")),
    ("actions.0.params.text", 512, param("text")),
    ("actions.0.params.expectedPackage", 512, param("expectedPackage")),
    *(
        (f"actions.0.params.{name}.{field}", 512, matcher(name, field))
        for name in ("matcher", "container", "expectedNode", "labelMatcher")
        for field in MATCHER_FIELDS
    ),
]


def test_one_unit_more_than_the_full_length_is_refused() -> None:
    """Text of the full length is accepted, one unit more is refused with the count."""
    for path, longest, make in LENGTHS:
        validate_execution(make("x" * longest))
        validate_execution(make("😀" * (longest // 2)))

        for text in ("x" * (longest + 1), "😀" * (longest // 2) + "x"):
            (problem,) = refusal(make(text)).problems

            assert problem.path == path
            assert problem.message.endswith(f" must be at most {longest} characters long"), path
            assert problem.found == f"{longest + 1} characters", path


def test_names_are_not_empty_and_other_texts_have_no_limit() -> None:
    """Names have at least one character; texts without a limit may fill the payload."""
    for path, _, make in LENGTHS:
        if path in ("commandId", "taskId", "source", "actions.0.id"):
            validate_execution(make("x"))
            assert paths(make("")) == [path]
    unlimited = "applicationId sessionId path clickType direction validator validatorPattern key"
    for name in unlimited.split():
        validate_execution(param(name)("x" * 5_000))


def test_a_type_is_trimmed_before_it_is_measured() -> None:
    """Up to 64 characters a type is an unknown one; beyond that it is refused for its length."""
    assert paths(payload(action("x" * 64))) == ["actions"]

    (problem,) = refusal(payload(action("x" * 65))).problems

    assert problem.path == "actions.0.type"
    assert problem.message == "type must be at most 64 characters long"
    assert problem.found == "65 characters"
    execution = validate_execution(payload(action(" " * 100 + "snapshot_ui" + "\n" * 100)))
    assert execution.actions[0].type == "snapshot_ui"


def test_the_least_and_the_most_are_accepted() -> None:
    """Bounds belong to actions: one that ignores a number takes any."""
    rows: list[tuple[str, str, float, float]] = [
        ("sleep", "durationMs", 0, 120_000),
        ("wait_for_navigation", "timeoutMs", 0.001, 30_000),
        ("scroll", "distanceRatio", 0, 1),
        ("scroll_until", "distanceRatio", 0, 1),
        ("scroll", "settleDelayMs", 0, 10_000),
        ("scroll_until", "settleDelayMs", 0, 10_000),
        ("scroll_until", "maxScrolls", 1, 200),
        ("scroll_until", "maxDurationMs", 0, 120_000),
        ("scroll_until", "noPositionChangeThreshold", 1, 20),
    ]
    for kind, name, *accepted in rows:
        for value in accepted:
            validate_execution(param(name, kind)(value))
        for value in (-1e300, -1.5, 0, 1e300):
            validate_execution(param(name)(value))
            validate_execution(param("maxSwipes")(value))
    for value in (1_000, 120_000):
        validate_execution(payload(timeoutMs=value))
    for value in (999.999, 120_000.001):
        assert paths(payload(timeoutMs=value)) == ["timeoutMs"]


def test_a_pixel_is_a_whole_number_without_upper_limit() -> None:
    """A pixel is a whole number from zero on, without an upper limit."""
    for name in ("x", "y"):
        for value in (0, 10**9):
            validate_execution(param("coordinate")({"x": 1, "y": 1, name: value}))
        for refused in (-1, 0.5):
            given = param("coordinate")({"x": 1, "y": 1, name: refused})
            assert paths(given) == [f"actions.0.params.coordinate.{name}"]


def test_number_of_actions() -> None:
    """Fifty actions are accepted, 51 are refused with the count."""
    validate_execution(payload(*[enough("snapshot_ui")] * 50))

    (problem,) = refusal(payload(*[enough("snapshot_ui")] * 51)).problems

    assert problem.path == "actions"
    assert problem.message == "actions must have at most 50 entries"
    assert problem.found == "51 entries"


@pytest.mark.parametrize("wrap", [lambda inner: {"x": inner}, lambda inner: [inner]])
def test_levels_of_nesting(wrap: Callable[[Any], Any]) -> None:
    """A retry object may be 100 levels deep and no deeper."""
    tower: Any = {}
    for _ in range(98):
        tower = wrap(tower)

    validate_execution(param("retry")({"x": tower}))

    (problem,) = refusal(param("retry")({"x": wrap(tower)})).problems
    assert problem.path == "actions.0.params.retry"
    assert problem.found == "more than 100 levels of nesting"


def test_only_the_first_thousand_entries_are_inspected() -> None:
    """Of a list that is far too long, a thousand entries are checked, or completed with ids."""
    for broken in ({"id": "", "type": "snapshot_ui"}, {"id": "a", "type": "sleep"}):
        problems = refusal(payload(actions=[broken] * 1_001)).problems

        assert problems[0].found == "1001 entries"
        assert len(problems) == 1 + 1_000
        assert problems[-1].path.startswith("actions.999.")
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution([{"type": "snapshot"}] * 1_001)

    assert [problem.path for problem in refused.value.problems] == ["actions"]
    assert refused.value.problems[0].found == "1001 entries"
