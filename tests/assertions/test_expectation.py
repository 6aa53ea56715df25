"""Expectations without a check: begun, and nothing expected."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expectation import watching
from pytest_clawperator.assertions.golden import GoldenStore
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SHOP

SNAPSHOT = Snapshot.from_xml(SHOP)


def test_an_expectation_without_parentheses_is_an_error() -> None:
    """The check was named and never called: the error has the line that forgot it."""
    with watching() as unstated:
        expect(SNAPSHOT).to_have_node  # noqa: B018 - the mistake itself

    error = unstated.error
    assert error is not None
    assert error.message.endswith(
        "expect(SNAPSHOT).to_have_node  # noqa: B018 - the mistake itself"
    )
    assert "with its parentheses" in str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert last.line is not None
    assert last.line.startswith("expect(SNAPSHOT).to_have_node")


@pytest.mark.parametrize(
    "check",
    [
        lambda: expect(SNAPSHOT).to_have_node(text="Milk"),
        lambda: expect(SNAPSHOT).node(text="Milk").to_be_visible(),
        lambda: expect(SNAPSHOT.find(text="Milk")).to_be_visible(),
        lambda: expect.poll(lambda: 1).to_equal(1),
    ],
)
def test_an_expectation_with_its_check_is_none(check: Callable[[], Any]) -> None:
    """Whatever is expected, and of whatever, is stated."""
    with watching() as unstated:
        check()

    assert unstated.error is None


@pytest.mark.parametrize(
    "use",
    [
        lambda begun: begun.to_have_node,
        lambda begun: begun.node(text="Milk"),
        lambda begun: begun.node(text="Milk").to_be_visible,
    ],
)
@pytest.mark.parametrize("is_used_before", [False, True])
def test_each_use_needs_its_own_check(use: Callable[[Any], Any], is_used_before: bool) -> None:
    """A check that was called says nothing about another that was only named."""
    with watching() as unstated:
        begun = expect(SNAPSHOT)
        if is_used_before:
            begun.to_have_node(text="Tea")
            begun.node(text="Tea").to_be_enabled()
        use(begun)

    assert unstated.error is not None


@pytest.mark.parametrize("use", [lambda begun: begun == "Milk", bool, repr])
def test_what_is_no_check_states_nothing(use: Callable[[Any], Any]) -> None:
    """An expectation has no value that could be compared."""
    with watching() as unstated:
        use(expect(SNAPSHOT))

    assert unstated.error is not None


def test_a_watch_can_be_continued() -> None:
    """A check may be called in another block than the one in which it was begun."""
    with watching() as unstated:
        begun = expect(SNAPSHOT)
    with watching(unstated), watching() as inner:
        begun.to_have_node(text="Tea")

    assert unstated.error is None
    assert inner.error is None


def test_a_golden_that_is_written_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a run that updates goldens nothing is compared, and yet something was expected."""
    monkeypatch.setattr(goldens, "current", lambda: GoldenStore(tmp_path, update=True))

    with watching() as unstated:
        expect(SNAPSHOT).to_match_tree("shop")

    assert unstated.error is None


def test_of_several_the_first_is_reported() -> None:
    """Fixing one leads to the next."""
    with watching() as unstated:
        expect(SNAPSHOT, "first")
        expect(SNAPSHOT, "second")

    assert unstated.error is not None
    assert 'expect(SNAPSHOT, "first")' in unstated.error.message
