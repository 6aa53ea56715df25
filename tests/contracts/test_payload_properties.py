"""Whatever comes in, the answer is an execution or a payload error, and answers are stable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.actions import (
    ACTION_TYPES,
    EXECUTION_ALIASES,
    TYPE_ALIASES,
    TypedAction,
)
from pytest_clawperator.contracts.matchers import MATCHER_ALIASES, NodeMatcher
from pytest_clawperator.contracts.params import PARAM_ALIASES, ActionParams
from pytest_clawperator.contracts.payload import Execution, complete_execution, validate_execution
from pytest_clawperator.contracts.schema import inspect_object
from pytest_clawperator.errors import ConfigurationError, PayloadError, Problem
from tests.contracts.builders import enough, payload

# Half characters included: JSON escapes can make them.
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    scalars | st.binary(max_size=5) | st.sets(st.integers(), max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(texts | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


def keyed(names: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw objects with mostly known keys."""
    return st.dictionaries(st.sampled_from(names) | texts, values, max_size=5)


matchers = keyed(["resourceId", "textEquals", "role", *MATCHER_ALIASES], texts | anything)
param_names = [*ActionParams.__dataclass_fields__, *PARAM_ALIASES, "applicationId", "maxScrolls"]
params = keyed(param_names, anything | matchers)
types = st.sampled_from([*ACTION_TYPES, *TYPE_ALIASES]) | texts
actions = st.fixed_dictionaries({"id": texts | anything, "type": types, "params": params}) | (
    st.builds(enough, st.sampled_from([*ACTION_TYPES])) | anything
)
payloads = st.builds(
    lambda extra, acts: payload(**{**extra, "actions": acts}),
    keyed([*EXECUTION_ALIASES, "commandId", "timeoutMs", "mode"], anything),
    st.lists(actions, max_size=4) | anything,
)


def answer(given: Any, judge: Callable[[Any], Any] = validate_execution) -> Any:
    """Judge whatever it is; any exception but a refusal, which can be shown, fails the test."""
    try:
        return judge(given)
    except (PayloadError, ConfigurationError) as error:
        str(error).encode()
        return error


@given(payloads | anything | st.binary(max_size=200) | texts)
def test_the_answer_is_an_execution_or_a_refusal(value: Any) -> None:
    """No input makes any other exception, in validating or completing."""
    for judge in (validate_execution, complete_execution):
        assert isinstance(answer(value, judge), (Execution, PayloadError))


TYPED = [cls for cls in TypedAction.__subclasses__() if cls.spec in ACTION_TYPES.values()]


@given(st.sampled_from(TYPED), st.data())
def test_typed_actions_may_hold_anything(cls: Any, data: st.DataObject) -> None:
    """Whatever Python code puts into a typed action, the answer is an execution or a refusal."""
    values = {each.name: data.draw(anything | matchers) for each in fields(cls)}

    answer([values], lambda given: complete_execution([cls(**given[0])]))


@given(st.lists(anything, min_size=6, max_size=6), anything | matchers)
def test_matchers_may_be_made_of_anything(values: list[Any], wire: Any) -> None:
    """Whatever a matcher is made of, it is a matcher or a refusal."""
    names = ["text", "text_contains", "id", "desc", "desc_contains", "role"]
    keywords = dict(zip(names, values, strict=True))

    for made in (
        answer(keywords, lambda it: NodeMatcher.of(**it)),
        answer(wire, NodeMatcher.from_wire),
    ):
        assert isinstance(made, (PayloadError, ConfigurationError)) or made.to_wire()


@given(payloads)
def test_validation_is_a_fixed_point(value: Any) -> None:
    """What was accepted is accepted again, unchanged, as a dict and as text."""
    execution = answer(value)
    if isinstance(execution, PayloadError):
        return

    assert validate_execution(execution.to_wire()) == execution
    if "null" not in execution.to_json():
        assert validate_execution(execution.to_json()) == execution


@given(payloads)
def test_the_fast_and_the_explaining_check_agree(value: Any) -> None:
    """A payload is accepted exactly when the walk over its fields finds no problem."""
    from pytest_clawperator.contracts.actions import canonical_execution
    from pytest_clawperator.contracts.payload import _as_model

    wire = canonical_execution(value)
    problems: list[Problem] = []
    inspect_object(Execution, wire, "", problems)

    assert (_as_model(wire) is None) == bool(problems)


@given(texts.filter(bool))
def test_any_text_survives_the_round_trip(text: str) -> None:
    """Text to type arrives as it was written, through validation and JSON."""
    execution = validate_execution(payload(enough("enter_text", text=text)))

    params = json.loads(execution.to_json())["actions"][0]["params"]

    # Two halves that belong together are one character to every JSON reader.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    assert params["text"] == whole
    assert execution.actions[0].params is not None
    assert execution.actions[0].params.text == text
