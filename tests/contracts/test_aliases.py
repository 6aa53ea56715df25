"""Other spellings become canonical ones, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.aliases import (
    ACTION_TYPE_ALIASES,
    EXECUTION_ALIASES,
    MATCHER_ALIASES,
    MATCHER_PARAMS,
    PARAM_ALIASES,
    canonical_execution,
    canonical_matcher,
    canonical_params,
    canonical_type,
)


@pytest.mark.parametrize(("alias", "canonical"), ACTION_TYPE_ALIASES.items())
def test_action_type_aliases(alias: str, canonical: str) -> None:
    """Each alias of an action type is understood in any case and padding."""
    assert canonical_type(alias) == canonical
    assert canonical_type(f" \ufeff{alias.upper()}\n") == canonical


def test_white_space_is_that_of_the_reference() -> None:
    """A next-line character is not white space there, so it stays and will be refused."""
    assert canonical_type("\x85tap") == "\x85tap"


@pytest.mark.parametrize(("alias", "canonical"), PARAM_ALIASES.items())
def test_param_aliases(alias: str, canonical: str) -> None:
    """Each alias of a parameter is renamed."""
    assert canonical_params({alias: 1}) == {canonical: 1}


@pytest.mark.parametrize("name", MATCHER_PARAMS)
@pytest.mark.parametrize(("alias", "canonical"), MATCHER_ALIASES.items())
def test_matcher_aliases_in_every_matcher(name: str, alias: str, canonical: str) -> None:
    """Each alias of a matcher field is renamed, whichever parameter holds the matcher."""
    assert canonical_params({name: {alias: "x"}}) == {name: {canonical: "x"}}


@pytest.mark.parametrize(("alias", "canonical"), EXECUTION_ALIASES.items())
def test_execution_aliases(alias: str, canonical: str) -> None:
    """Each alias of a top-level key is renamed."""
    assert canonical_execution({alias: 1}) == {canonical: 1}


@pytest.mark.parametrize("value", [None, "", 0, {}])
def test_canonical_key_beats_alias(value: Any) -> None:
    """The canonical key wins over its aliases whatever it holds and wherever it stands."""
    assert canonical_matcher({"id": "a", "resourceId": value, "resource_id": "b"}) == {
        "resourceId": value
    }


def test_last_alias_wins() -> None:
    """Of several aliases of one key the last one counts."""
    assert canonical_params({"app": "a", "package": "b", "appId": "c"}) == {"applicationId": "c"}


def test_renamed_key_keeps_its_place() -> None:
    """Unknown keys are reported in the order given, so renaming must not shuffle them."""
    assert list(canonical_params({"z": 1, "url": 2, "y": 3})) == ["z", "uri", "y"]


@pytest.mark.parametrize("name", ["clickType", "click_type", "longPress"])
def test_long_press_flag(name: str) -> None:
    """True means a long click; false is left for the schema to refuse."""
    assert canonical_params({name: True}) == {"clickType": "long_click"}
    assert canonical_params({name: False}) == {"clickType": False}


def test_retry_objects_are_left_alone() -> None:
    """Aliases mean nothing inside retry objects and coordinates."""
    params = {"retry": {"timeout_ms": 1}, "coordinate": {"id": 1}}

    assert canonical_params(params) == params


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_other_values_pass_untouched(value: Any) -> None:
    """What is not an object is left for the schema."""
    assert canonical_execution(value) is value
    assert canonical_params(value) is value
    assert canonical_execution({"actions": [value]}) == {"actions": [value]}


def test_input_is_never_changed() -> None:
    """Renaming gives new objects and leaves the caller's as they were."""
    given = {"timeout_ms": 1, "actions": [{"type": "tap", "params": {"selector": {"id": "x"}}}]}

    renamed = canonical_execution(given)

    assert renamed == {
        "timeoutMs": 1,
        "actions": [{"type": "click", "params": {"matcher": {"resourceId": "x"}}}],
    }
    assert given == {
        "timeout_ms": 1,
        "actions": [{"type": "tap", "params": {"selector": {"id": "x"}}}],
    }
