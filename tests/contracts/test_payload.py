"""Payloads are checked by the whole contract."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.actions import ACTION_TYPES
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ExecutionValidationError, PayloadError, PayloadTooLargeError
from tests.contracts.builders import ENOUGH, action, enough, payload, refusal


def test_what_keeps_the_contract_is_accepted_in_every_form() -> None:
    """Each type is accepted as a dict, as text and as bytes, with or without a byte order mark."""
    assert set(ENOUGH) == set(ACTION_TYPES)
    assert len(ACTION_TYPES) == 18
    for kind in ACTION_TYPES:
        given = payload(enough(kind))
        execution = validate_execution(given)
        text = json.dumps(given)

        assert execution.to_wire() == given
        assert validate_execution(execution) is execution
        for form in (text, text.encode(), b"\xef\xbb\xbf" + text.encode(), "\ufeff" + text):
            assert validate_execution(form) == execution


def test_a_changed_copy_is_checked() -> None:
    """There is no way to an execution around validation."""
    execution = validate_execution(payload())

    assert replace(execution, timeout_ms=5000).to_wire()["timeoutMs"] == 5000
    with pytest.raises(ExecutionValidationError):
        replace(execution, timeout_ms=5)


def test_fields_are_read_by_their_python_names() -> None:
    """Fields are read by their Python names, parameters and matchers too."""
    click = enough("click", coordinate=..., matcher={"id": "x:id/y"}, timeoutMs=1)

    execution = validate_execution(payload(click, mode="direct"))

    assert (execution.command_id, execution.mode) == ("cmd-1", "direct")
    params = execution.actions[0].params
    assert params is not None
    assert params.matcher == NodeMatcher(resource_id="x:id/y")
    assert (params.timeout_ms, params.text) == (1, None)
    assert "params=ActionParams(matcher=" in repr(execution), "without thirty Nones"


def test_any_action_may_carry_any_parameter() -> None:
    """The parameters are one flat set: a sleep may name an app, a click a duration."""
    everything = {
        "applicationId": "a", "sessionId": "s", "uri": "u", "durationMs": 5, "path": "p",
        "matcher": {"role": "button"}, "text": "t", "submit": True, "clear": False,
        "clickType": "whatever", "container": {"role": "list"}, "direction": "down",
        "maxSwipes": -3, "distanceRatio": 0.5, "settleDelayMs": 1, "maxScrolls": 7,
        "maxDurationMs": 8, "noPositionChangeThreshold": 2,
        "findFirstScrollableChild": True, "clickAfter": True, "validator": "odd",
        "validatorPattern": "[", "key": "back", "retry": {"maxAttempts": 2},
        "scrollRetry": {}, "clickRetry": {"x": None}, "expectedPackage": "e",
        "expectedNode": {"role": "x"}, "timeoutMs": 9, "labelMatcher": {"role": "y"},
        "all": False,
    }  # fmt: skip

    given = payload(*({**action(kind, **everything), "id": kind} for kind in ACTION_TYPES))

    assert validate_execution(given).to_wire() == given


def test_json_is_compact_and_canonical() -> None:
    """Every alias is understood; the text has canonical names in order and only what was given."""
    given = {
        "actions": [{"id": "a1", "params": {"selector": {"text": "Ä"}}, "type": " TAP "}],
        "timeout_ms": 30000.0,
        "expected_format": "android-ui-automator",
        "source": "tests",
        "task_id": "task-1",
        "command_id": "cmd-1",
    }

    assert validate_execution(given).to_json() == (
        '{"commandId":"cmd-1","taskId":"task-1","source":"tests",'
        '"expectedFormat":"android-ui-automator","timeoutMs":30000,'
        '"actions":[{"id":"a1","type":"click","params":{"matcher":{"textEquals":"Ä"}}}]}'
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (payload(timeoutMs=1e3), '"timeoutMs":1000,'),
        (payload(timeoutMs=1000.5), '"timeoutMs":1000.5,'),
        (payload(enough("click", retry={"maxAttempts": 3.0})), '"retry":{"maxAttempts":3}'),
        (payload(commandId="\udc00"), '"commandId":"\\udc00"'),
        (payload(action("snapshot_ui")), '"params":{}'),
        (payload(enough("snapshot_ui"), enough("snapshot_ui")), '"a1"'),
        (payload(enough("click", matcher={"textEquals": " ", "role": ""})), '"textEquals":" "'),
    ],
)
def test_values_travel_in_their_canonical_form(given: dict[str, Any], text: str) -> None:
    """Whole floats travel as integers, half characters as escapes; empty objects are kept."""
    assert text in validate_execution(given).to_json()


def test_the_caller_cannot_change_an_execution() -> None:
    """Changing what was given, or what came out, leaves the execution as checked."""
    given = payload(enough("click", retry={"a": {"b": 1}}))
    execution = validate_execution(given)
    before = execution.to_json()

    given["actions"][0]["params"]["retry"]["a"]["b"] = 2
    execution.to_wire()["actions"][0]["params"]["retry"]["a"]["b"] = 3

    assert execution.to_json() == before


def test_a_dry_run_shows_ids_limit_and_actions() -> None:
    """A dry run shows ids, limit, count and actions."""
    execution = validate_execution(payload(enough("press_key")))

    assert execution.plan() == {
        "commandId": "cmd-1",
        "timeoutMs": 30000,
        "actionCount": 1,
        "actions": [{"id": "a1", "type": "press_key", "params": {"key": "back"}}],
    }


class TestRefused:
    """What breaks the contract is refused with every problem named."""

    @pytest.mark.parametrize(
        ("changes", "path", "message"),
        [
            ({"commandId": ...}, "commandId", "commandId is required"),
            ({"commandId": None}, "commandId", "commandId must be a string"),
            ({"commandId": ""}, "commandId", "commandId must not be empty"),
            ({"taskId": "x" * 129}, "taskId", "taskId must be at most 128 characters long"),
            ({"source": "x" * 65}, "source", "source must be at most 64 characters long"),
            ({"expectedFormat": "x"}, "expectedFormat", 'expectedFormat must be "android-ui-'),
            ({"timeoutMs": 999}, "timeoutMs", "timeoutMs must be at least 1000"),
            ({"timeoutMs": 120001}, "timeoutMs", "timeoutMs must be at most 120000"),
            ({"timeoutMs": "5000"}, "timeoutMs", "timeoutMs must be a number"),
            ({"timeoutMs": True}, "timeoutMs", "timeoutMs must be a number"),
            ({"timeoutMs": float("nan")}, "timeoutMs", "timeoutMs must be a number"),
            ({"timeoutMs": float("inf")}, "timeoutMs", "timeoutMs must be at most"),
            ({"timeoutMs": 10**400}, "timeoutMs", "timeoutMs must be at most"),
            ({"mode": "fast"}, "mode", "mode must be one of artifact_compiled, direct"),
            ({"actions": []}, "actions", "actions must have at least 1 entry"),
            ({"actions": {}}, "actions", "actions must be a list"),
            ({"actions": None}, "actions", "actions must be a list"),
            ({"actions": [5]}, "actions.0", "entry 0 must be an object"),
            ({"actions": [{}]}, "actions.0.id", "id is required"),
            ({"actions": [{"id": "a"}]}, "actions.0.type", "type is required"),
            ({"extra": 1}, "", "unknown key extra"),
        ],
    )
    def test_each_broken_field_is_named_by_its_path(
        self, changes: dict[str, Any], path: str, message: str
    ) -> None:
        """Each broken field is named by its path, with what is wrong."""
        error = refusal(payload(**changes))

        assert error.code == "EXECUTION_VALIDATION_FAILED"
        assert error.path == path
        assert error.message.startswith(message)
        assert error.details["path"] == path

    @pytest.mark.parametrize(
        ("params", "path"),
        [
            ({"retry": {"x": {1, 2}}}, "retry"),
            ({"retry": {"x": {3: 4}}}, "retry"),
            ({"retry": {"x": float("nan")}}, "retry"),
            ({"matcher": {"text_equals": "OK"}}, "matcher"),
            ({"matcher": NodeMatcher(role="button")}, "matcher"),
            ({"target": {"textEquals": "OK"}}, ""),
            ({"max_swipe": 3}, ""),
        ],
    )
    def test_each_parameter_is_checked_whatever_the_action(
        self, params: dict[str, Any], path: str
    ) -> None:
        """Each parameter is checked whatever the action."""
        error = refusal(payload(action("snapshot_ui", **params)))

        assert error.path == f"actions.0.params.{path}".rstrip(".")

    def test_an_unknown_type_names_the_known_ones_and_the_nearest(self) -> None:
        """An unknown action type is refused; a misspelt name or alias gets a suggestion."""
        error = refusal(payload(action("clik")))

        assert error.path == "actions"
        assert error.message == "All action types must be supported"
        assert error.problems[0].found == '"clik" at actions.0.type'
        assert error.problems[0].suggestion == "click"
        assert refusal(payload(action("tapp"))).problems[0].suggestion == "click"
        assert refusal(payload(action("scroll", selektor={}))).problems[0].suggestion == "matcher"
        # The host's own handshake is not an action of payloads.
        assert refusal(payload(action("doctor_ping"))).path == "actions"

    def test_every_action_is_checked_and_the_broken_one_is_named(self) -> None:
        """What an action needs is demanded wherever it stands, beside other problems or alone."""
        for places in ([0], [1], [25], [49], list(range(50))):
            for extra in ({}, {"extra": 1}):
                actions = [
                    {"id": f"a{n}", "type": "sleep" if n in places else "snapshot_ui"}
                    for n in range(50)
                ]

                error = refusal(payload(*actions, **extra))

                needs = [f"actions.{place}.params.durationMs" for place in places]
                assert [problem.path for problem in error.problems] == [""] * len(extra) + needs
                if not extra:
                    assert error.details["actionId"] == f"a{places[0]}"

    def test_action_is_named_as_written(self) -> None:
        """Details carry the action's id and type in the caller's own spelling."""
        error = refusal(payload({"id": "k1", "type": " TAP ", "params": {"b": 1, "a": 2}}))

        assert error.details == {
            "path": "actions.0.params",
            "actionId": "k1",
            "actionType": " TAP ",
            "invalidKeys": ["b", "a"],
        }

    def test_removed_snapshot_format_has_a_hint(self) -> None:
        """A parameter that older payloads carry has a hint to remove it."""
        error = refusal(payload(action("snapshot", format="xml")))

        assert error.hint == "'format' was removed from snapshot_ui. Remove this parameter."
        assert error.details["hint"] == error.hint
        assert refusal(payload(enough("click", format="xml"))).hint is None

    def test_text_for_a_person(self) -> None:
        """The text has the place, what was found, what is allowed, and what was meant."""
        error = refusal(payload(action("scroll_until", maxScroll=5)))

        text = str(error)

        assert text.startswith(
            "EXECUTION_VALIDATION_FAILED: unknown key maxScroll (at actions.0.params)\n"
            "  found: maxScroll\n"
            "  allowed: applicationId, "
        )
        assert text.endswith("\n  did you mean `maxScrolls`?")

    @pytest.mark.parametrize("value", [None, 5, 1.5, True, [], [{}], "5", "null", '"text"', "[]"])
    def test_only_an_object_is_a_payload(self, value: Any) -> None:
        """Any other JSON value is refused at the root."""
        error = refusal(value)

        assert error.path == ""
        assert "must be an object" in error.message

    def test_instances_are_not_json(self) -> None:
        """Python objects inside a payload are not JSON values, typed or not."""
        inner = validate_execution(payload(enough("click"))).actions[0]

        assert refusal(payload(actions=[inner])).path == "actions.0"
        assert refusal(payload({"id": "a", "type": "click", "params": inner.params})).path == (
            "actions.0.params"
        )
        assert refusal(payload(actions=(enough("click"),))).path == "actions"


class TestHostileInput:
    """Bad input ends in a clear, coded error, quickly, and in nothing else."""

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (b"\xff\xfe\x00", "the payload is not UTF-8 text"),
            ("{nope", "the payload is not valid JSON"),
            ("", "the payload is not valid JSON"),
            ("NaN", "the payload is not valid JSON"),
            ('{"timeoutMs": Infinity}', "the payload is not valid JSON"),
            ("9" * 5000, "the payload is not valid JSON"),
            ("[" * 10_000, "the payload is nested too deeply"),
            ('{"a":' * 10_000 + "1" + "}" * 10_000, "the payload is nested too deeply"),
            ("x" * 10_000_000, "the payload is not valid JSON"),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_text_that_is_not_json_is_refused_with_its_beginning(
        self, given: Any, message: str
    ) -> None:
        """The refusal names the reason and shows only the beginning of the text."""
        error = refusal(given)

        assert error.message.startswith(message)
        assert len(str(error)) < 500

    def test_an_object_without_bounds_is_refused(self) -> None:
        """Deep, doubling and endless objects are refused by name before they are unfolded."""
        tower: dict[str, Any] = {}
        doubled: dict[str, Any] = {}
        loop: dict[str, Any] = {}
        loop["again"] = loop
        for _ in range(10_000):
            tower = {"x": tower}
        for _ in range(60):
            doubled = {"a": doubled, "b": doubled}

        for given, found in (
            (tower, f"more than {limits.MAX_NESTING} levels of nesting"),
            (doubled, "more than 64000 values"),
            (loop, f"more than {limits.MAX_NESTING} levels of nesting"),
        ):
            problem = refusal(payload(enough("click", retry=given))).problems[0]
            assert (problem.path, problem.found) == ("actions.0.params.retry", found)
        assert refusal(payload(enough("click", matcher=loop))).path == "actions.0.params.matcher"

    def test_far_too_many_actions_or_keys_make_a_bounded_text(self) -> None:
        """The count is reported; the problems and their text stay bounded."""
        actions = refusal(payload(actions=[{"id": "", "type": 5}] * 100_000)).problems
        keys = refusal({str(n): n for n in range(100_000)})

        assert actions[0].found == "100000 entries"
        assert len(actions) <= 1 + 2 * limits.MAX_INSPECTED
        assert len(keys.problems[-1].unknown_keys) == 100_000
        assert len(str(keys)) < 5_000

    def test_a_pattern_that_is_slow_to_compile_is_only_read(self) -> None:
        """A pattern that would take minutes to compile is only read."""
        pattern = "(?i)" + "[\x00-\uffff]" * 5_000
        read = enough("read_text", validator="regex", validatorPattern=pattern)

        with pytest.raises(PayloadTooLargeError):
            validate_execution(payload(*[read] * 20))

    @pytest.mark.parametrize(
        "key",
        [1, None, ("a",), 10**5000, "\udc00", "\x00", "x" * 10**6],
        ids=["int", "none", "tuple", "huge", "half", "nul", "long"],
    )
    def test_a_key_of_any_kind_is_reported_as_text(self, key: Any) -> None:
        """A key of any kind is reported as text."""
        error = refusal({**payload(), key: 1})

        spelled = key if isinstance(key, str) else describe(key)
        assert error.problems[0].unknown_keys == (spelled,)
        str(error).encode()


class TestSize:
    """The limit is 64,000 bytes of the canonical compact form."""

    @staticmethod
    def sized(size: int, fill: str = "a") -> dict[str, Any]:
        """Make a payload of exactly so many bytes."""
        empty = payload(action("open_app", applicationId=""))
        rest = size - len(json.dumps(empty, separators=(",", ":")))
        width = len(fill.encode())
        assert rest % width == 0
        return payload(action("open_app", applicationId=fill * (rest // width)))

    def test_one_byte_more_than_the_limit_is_refused(self) -> None:
        """The limit itself is accepted; bytes count, not characters or white space."""
        for fill in ("a", "ä"):
            execution = validate_execution(self.sized(64_000, fill))
            assert len(execution.to_json().encode()) == 64_000

            size = 64_000 + len(fill.encode())
            with pytest.raises(PayloadTooLargeError) as refused:
                validate_execution(self.sized(size, fill))

            assert refused.value.code == "PAYLOAD_TOO_LARGE"
            assert refused.value.message == f"Payload exceeds 64000 bytes (got {size})"
            assert refused.value.hint
            assert isinstance(refused.value, PayloadError)
        validate_execution(" " * 10_000_000 + json.dumps(payload()))
        # The shape is checked before the size.
        assert refusal({**self.sized(70_000), "timeoutMs": 1}).path == "timeoutMs"

    def test_short_aliases_grow(self) -> None:
        """What counts is the canonical form, not what was written."""
        given = self.sized(64_000)
        given["actions"][0]["params"] = {"app": given["actions"][0]["params"]["applicationId"]}
        assert len(json.dumps(given, separators=(",", ":"))) < 64_000
        validate_execution(given)
        given["actions"][0]["params"]["app"] += "a"

        with pytest.raises(PayloadTooLargeError):
            validate_execution(given)

    def test_what_grows_on_its_way_counts_as_it_travels(self) -> None:
        """1e20 travels as 21 digits, half a character pair as an escape of six bytes."""
        numbers = (
            json.dumps(payload(enough("click", retry={"x": [1e20] * count})))
            .replace("1e+20", "1e20")
            .replace(" ", "")
            for count in (2_800, 2_950)
        )
        halves = (
            payload(action("open_app", applicationId="\udc00" * count))
            for count in (10_000, 11_000)
        )
        for fits, grows in (numbers, halves):
            assert len(validate_execution(fits).to_json()) > 60_000
            with pytest.raises(PayloadTooLargeError, match=r"got 6[456]\d{3}"):
                validate_execution(grows)
