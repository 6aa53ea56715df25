"""Payloads are checked by the whole contract."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.actions import ACTION_TYPES
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ExecutionValidationError, PayloadError, PayloadTooLargeError
from tests.contracts.builders import ENOUGH, action, enough, payload, refusal


class TestAccepted:
    """What keeps the contract comes back typed and unchanged."""

    @pytest.mark.parametrize("type", ACTION_TYPES)
    def test_every_action_type(self, type: str) -> None:
        """Each of the eighteen types is accepted with what it needs."""
        given = payload(enough(type))

        assert validate_execution(given).to_wire() == given

    def test_the_builders_know_every_type(self) -> None:
        """The eighteen types are the documented ones."""
        assert set(ENOUGH) == set(ACTION_TYPES)
        assert len(ACTION_TYPES) == 18

    @pytest.mark.parametrize("wrap", [json.dumps, lambda p: json.dumps(p).encode(), lambda p: p])
    def test_dict_text_and_bytes(self, wrap: Any) -> None:
        """A dict, JSON text and JSON bytes are the same payload."""
        assert validate_execution(wrap(payload())) == validate_execution(payload())

    def test_byte_order_mark(self) -> None:
        """A file saved by a Windows editor is read too."""
        text = json.dumps(payload())

        assert validate_execution(b"\xef\xbb\xbf" + text.encode()) == validate_execution(payload())
        assert validate_execution("\ufeff" + text) == validate_execution(payload())

    def test_an_execution_is_itself(self) -> None:
        """Validating a checked payload gives the very same."""
        execution = validate_execution(payload())

        assert validate_execution(execution) is execution

    def test_a_changed_copy_is_checked(self) -> None:
        """There is no way to an execution around validation."""
        execution = validate_execution(payload())

        assert replace(execution, timeout_ms=5000).to_wire()["timeoutMs"] == 5000
        with pytest.raises(ExecutionValidationError):
            replace(execution, timeout_ms=5)

    def test_fields_are_read_by_their_python_names(self) -> None:
        """Fields are read by their Python names, parameters and matchers too."""
        click = enough("click", coordinate=..., matcher={"id": "x:id/y"}, timeoutMs=1)

        execution = validate_execution(payload(click, mode="direct"))

        assert execution.command_id == "cmd-1"
        assert execution.mode == "direct"
        params = execution.actions[0].params
        assert params is not None
        assert params.matcher == NodeMatcher(resource_id="x:id/y")
        assert params.timeout_ms == 1
        assert params.text is None

    def test_any_action_may_carry_any_parameter(self) -> None:
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

    def test_every_kind_of_alias_comes_out_canonical(self) -> None:
        """Every kind of alias is understood and comes out canonical."""
        given = {
            "command_id": "c",
            "task_id": "t",
            "source": "s",
            "expected_format": "android-ui-automator",
            "timeout_ms": 1000,
            "actions": [{"id": "a", "type": " TAP ", "params": {"selector": {"id": "x"}}}],
        }

        wire = validate_execution(given).to_wire()

        assert wire["commandId"] == "c"
        assert wire["timeoutMs"] == 1000
        assert wire["actions"] == [
            {"id": "a", "type": "click", "params": {"matcher": {"resourceId": "x"}}}
        ]

    @pytest.mark.parametrize(("number", "kept"), [(30000.0, 30000), (1e3, 1000), (1000.5, 1000.5)])
    def test_whole_floats_become_integers(self, number: float, kept: float) -> None:
        """The Operator takes integer literals only, so 30000.0 travels as 30000."""
        text = validate_execution(payload(timeoutMs=number)).to_json()

        assert f'"timeoutMs":{kept},' in text

    def test_numbers_inside_retry_too(self) -> None:
        """A retry object's numbers travel in the same form."""
        wire = validate_execution(payload(enough("click", retry={"maxAttempts": 3.0}))).to_json()

        assert '"retry":{"maxAttempts":3}' in wire

    def test_duplicate_ids_are_legal(self) -> None:
        """Two actions may share an id."""
        validate_execution(payload(enough("snapshot_ui"), enough("snapshot_ui")))

    def test_fifty_actions_are_allowed(self) -> None:
        """Fifty actions are allowed."""
        assert len(validate_execution(payload(*[enough("scroll")] * 50)).actions) == 50

    def test_emoji_count_twice(self) -> None:
        """Sixty-four emoji fill the 128 units of an id."""
        validate_execution(payload(commandId="😀" * 64))

        assert refusal(payload(commandId="😀" * 65)).path == "commandId"

    def test_lone_surrogates_survive(self) -> None:
        """Half a character pair is legal text and travels as an escape."""
        execution = validate_execution(payload(commandId="\udc00"))

        assert execution.command_id == "\udc00"
        assert '"commandId":"\\udc00"' in execution.to_json()

    def test_the_caller_cannot_reach_in(self) -> None:
        """Changing what was given, or what came out, leaves the execution as checked."""
        given = payload(enough("click", retry={"a": {"b": 1}}))
        execution = validate_execution(given)
        before = execution.to_json()

        given["actions"][0]["params"]["retry"]["a"]["b"] = 2
        execution.to_wire()["actions"][0]["params"]["retry"]["a"]["b"] = 3

        assert execution.to_json() == before


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
            ({"text": "x" * 513}, "text"),
            ({"uri": "x" * 2049}, "uri"),
            ({"expectedPackage": "x" * 513}, "expectedPackage"),
            ({"submit": "true"}, "submit"),
            ({"submit": 1}, "submit"),
            ({"durationMs": "1"}, "durationMs"),
            ({"path": None}, "path"),
            ({"retry": []}, "retry"),
            ({"retry": None}, "retry"),
            ({"retry": {"x": {1, 2}}}, "retry"),
            ({"retry": {"x": {3: 4}}}, "retry"),
            ({"retry": {"x": float("nan")}}, "retry"),
            ({"coordinate": {"x": 1}}, "coordinate.y"),
            ({"coordinate": {"x": 1.5, "y": 1}}, "coordinate.x"),
            ({"coordinate": {"x": -1, "y": 1}}, "coordinate.x"),
            ({"coordinate": {"x": 1, "y": 1, "z": 1}}, "coordinate"),
            ({"matcher": "OK"}, "matcher"),
            ({"matcher": {"textEquals": 5}}, "matcher.textEquals"),
            ({"matcher": {"textEquals": "x" * 513}}, "matcher.textEquals"),
            ({"matcher": {}}, "matcher"),
            ({"matcher": {"textEquals": ""}}, "matcher"),
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

    def test_whitespace_is_a_value(self) -> None:
        """A matcher of blanks is legal: a screen may show just that."""
        validate_execution(payload(enough("click", matcher={"textEquals": " ", "role": ""})))

    def test_type_is_not_guessed(self) -> None:
        """An unknown action type names the known ones and the nearest."""
        error = refusal(payload(action("clik")))

        assert error.path == "actions"
        assert error.message == "All action types must be supported"
        assert error.problems[0].found == '"clik" at actions.0.type'
        assert error.problems[0].suggestion == "click"

    def test_near_miss_of_an_alias_names_the_canonical_word(self) -> None:
        """A misspelt alias is as good a clue as a misspelt name."""
        assert refusal(payload(action("tapp"))).problems[0].suggestion == "click"
        assert refusal(payload(action("scroll", selektor={}))).problems[0].suggestion == "matcher"

    def test_doctor_ping_is_not_for_payloads(self) -> None:
        """The host's own handshake is not an action that a payload may hold."""
        assert refusal(payload(action("doctor_ping"))).path == "actions"

    def test_every_problem_in_order(self) -> None:
        """Shape comes first in schema order, unknown keys after fields, needs of actions last."""
        given = payload(
            {"id": "", "type": "click", "params": {"zzz": 1, "matcher": {}}},
            {"id": "b", "type": "sleep"},
            timeoutMs=5,
            extra=1,
        )

        paths = [problem.path for problem in refusal(given).problems]

        assert paths == [
            "timeoutMs",
            "actions.0.id",
            "actions.0.params.matcher",
            "actions.0.params",
            "",
            "actions.1.params.durationMs",
        ]

    def test_wrong_type_stops_later_checks(self) -> None:
        """With a field of the wrong type the needs of actions are not checked."""
        given = payload({"id": 5, "type": "click"}, {"id": "b", "type": "sleep"})

        assert [problem.path for problem in refusal(given).problems] == ["actions.0.id"]

    @pytest.mark.parametrize("place", [0, 1, 25, 48, 49])
    @pytest.mark.parametrize("changes", [{}, {"extra": 1}])
    def test_every_action_is_checked(self, place: int, changes: dict[str, Any]) -> None:
        """What an action needs is demanded wherever it stands, beside other problems or alone."""
        actions = [{"id": f"a{n}", "type": "snapshot_ui"} for n in range(50)]
        actions[place]["type"] = "sleep"

        problems = refusal(payload(*actions, **changes)).problems

        assert len(problems) == 1 + len(changes)
        assert problems[-1].path == f"actions.{place}.params.durationMs"

    def test_all_actions_are_checked(self) -> None:
        """Fifty broken actions make fifty problems, in order, and the first is named."""
        actions = [{"id": f"a{n}", "type": "sleep"} for n in range(50)]

        error = refusal(payload(*actions))

        found = [problem.path for problem in error.problems]
        assert found == [f"actions.{n}.params.durationMs" for n in range(50)]
        assert error.details["actionId"] == "a0"

    def test_the_broken_action_is_named(self) -> None:
        """Details name the action that the first problem is about, not the first action."""
        fine = [{"id": f"a{n}", "type": "snapshot_ui"} for n in range(49)]

        error = refusal(payload(*fine, {"id": "last", "type": "tap"}))

        assert error.path == "actions.49.params"
        assert error.details["actionId"] == "last"
        assert error.details["actionType"] == "tap"

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
        """The parameter that older payloads carry is told to be removed."""
        error = refusal(payload(action("snapshot", format="xml")))

        assert error.hint == "'format' was removed from snapshot_ui. Remove this parameter."
        assert error.details["hint"] == error.hint
        assert refusal(payload(enough("click", format="xml"))).hint is None

    def test_text_for_a_person(self) -> None:
        """The text says where, what was found, what is allowed, and what was meant."""
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
        """Python objects inside a payload are no JSON values, typed or not."""
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
    def test_text_that_is_no_json_is_refused_with_its_beginning(
        self, given: Any, message: str
    ) -> None:
        """Text that is no JSON says so and shows only its beginning."""
        error = refusal(given)

        assert error.message.startswith(message)
        assert len(str(error)) < 500

    def test_a_tower_of_dicts(self) -> None:
        """Ten thousand levels inside a retry object are refused by name."""
        tower: dict[str, Any] = {}
        for _ in range(10_000):
            tower = {"x": tower}

        error = refusal(payload(enough("click", retry=tower)))

        assert error.problems[0].found == f"more than {limits.MAX_NESTING} levels of nesting"

    def test_an_object_that_doubles_with_each_level_is_refused(self) -> None:
        """An object that doubles with each level is refused before it is unfolded."""
        doubled: dict[str, Any] = {}
        for _ in range(60):
            doubled = {"a": doubled, "b": doubled}

        error = refusal(payload(enough("click", retry=doubled)))

        assert error.problems[0].found == "more than 64000 values"

    def test_an_object_that_contains_itself_is_refused(self) -> None:
        """An object that contains itself is refused, not followed."""
        loop: dict[str, Any] = {}
        loop["again"] = loop

        assert refusal(payload(enough("click", retry=loop))).path == "actions.0.params.retry"
        assert refusal(payload(enough("click", matcher=loop))).path == "actions.0.params.matcher"

    def test_far_too_many_actions(self) -> None:
        """The count is told; the problems listed stay bounded."""
        error = refusal(payload(actions=[{"id": "", "type": 5}] * 100_000))

        assert error.problems[0].found == "100000 entries"
        assert len(error.problems) <= 1 + 2 * limits.MAX_INSPECTED

    def test_far_too_many_keys(self) -> None:
        """A million unknown keys make one problem and a short text."""
        error = refusal({str(n): n for n in range(100_000)})

        assert len(error.problems[-1].unknown_keys) == 100_000
        assert len(str(error)) < 5_000

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

    def test_the_limit_itself_fits(self) -> None:
        """Exactly 64,000 bytes are accepted."""
        execution = validate_execution(self.sized(64_000))

        assert len(execution.to_json().encode()) == 64_000

    def test_one_byte_more_does_not(self) -> None:
        """One byte more is refused with the count and a way out."""
        with pytest.raises(PayloadTooLargeError) as refused:
            validate_execution(self.sized(64_001))

        assert refused.value.code == "PAYLOAD_TOO_LARGE"
        assert refused.value.message == "Payload exceeds 64000 bytes (got 64001)"
        assert refused.value.hint
        assert isinstance(refused.value, PayloadError)

    def test_short_aliases_grow(self) -> None:
        """What counts is the canonical form, not what was written."""
        given = self.sized(64_000)
        given["actions"][0]["params"] = {"app": given["actions"][0]["params"]["applicationId"]}
        assert len(json.dumps(given, separators=(",", ":"))) < 64_000
        validate_execution(given)
        given["actions"][0]["params"]["app"] += "a"

        with pytest.raises(PayloadTooLargeError):
            validate_execution(given)

    def test_numbers_that_grow(self) -> None:
        """What is written 1e20 travels as 21 digits, and those count."""
        fits, grows = (
            json.dumps(payload(enough("click", retry={"x": [1e20] * count})))
            .replace("1e+20", "1e20")
            .replace(" ", "")
            for count in (2_800, 2_950)
        )
        assert len(grows) < 16_000

        assert len(validate_execution(fits).to_json()) > 60_000
        with pytest.raises(PayloadTooLargeError, match=r"got 6[45]\d{3}"):
            validate_execution(grows)

    def test_a_lone_surrogate_counts_as_six_bytes(self) -> None:
        """Half a character pair travels as an escape of six bytes."""
        fits, grows = (
            payload(action("open_app", applicationId="\udc00" * count))
            for count in (10_000, 11_000)
        )

        assert len(validate_execution(fits).to_json()) > 60_000
        with pytest.raises(PayloadTooLargeError, match=r"got 66\d{3}"):
            validate_execution(grows)

    def test_bytes_count_not_characters(self) -> None:
        """A letter of two bytes counts twice."""
        execution = validate_execution(self.sized(64_000, "ä"))

        assert len(execution.to_json().encode()) == 64_000
        with pytest.raises(PayloadTooLargeError):
            validate_execution(self.sized(64_002, "ä"))

    def test_white_space_does_not_count(self) -> None:
        """Ten megabytes of indentation are no payload."""
        validate_execution(" " * 10_000_000 + json.dumps(payload()))

    def test_shape_is_checked_before_size(self) -> None:
        """A large payload that is also wrong is told what is wrong."""
        assert refusal({**self.sized(70_000), "timeoutMs": 1}).path == "timeoutMs"


class TestForms:
    """The forms an execution can take."""

    def test_json_is_compact_and_canonical(self) -> None:
        """The text has canonical names in schema order and only what was given."""
        given = payload(action("tap", selector={"text": "Ä"}))

        assert validate_execution(dict(reversed(given.items()))).to_json() == (
            '{"commandId":"cmd-1","taskId":"task-1","source":"tests",'
            '"expectedFormat":"android-ui-automator","timeoutMs":30000,'
            '"actions":[{"id":"a1","type":"click","params":{"matcher":{"textEquals":"Ä"}}}]}'
        )

    def test_a_dry_run_shows_ids_limit_and_actions(self) -> None:
        """A dry run shows ids, limit, count and actions."""
        execution = validate_execution(payload(enough("press_key")))

        assert execution.plan() == {
            "commandId": "cmd-1",
            "timeoutMs": 30000,
            "actionCount": 1,
            "actions": [{"id": "a1", "type": "press_key", "params": {"key": "back"}}],
        }

    def test_empty_params_are_kept(self) -> None:
        """An empty object that was given is not dropped."""
        assert '"params":{}' in validate_execution(payload(action("snapshot_ui"))).to_json()

    def test_repr_shows_only_what_is_there(self) -> None:
        """A developer reading a repr is not shown thirty Nones."""
        text = repr(validate_execution(payload(enough("press_key"))))

        assert "params=ActionParams(key='back')" in text
        assert isinstance(validate_execution(payload()), Execution)
