"""``claw.step``: a part of a test has a name, and observers hear of it."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.step import Step
from pytest_clawperator.contracts.events import Event, StepFinished, StepStarted
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.pipeline import Observers


def test_steps_are_told_with_their_beginning_and_end() -> None:
    """Nested steps begin and end in their order, and a failed one has its error."""
    heard: list[Event] = []
    observers = Observers([heard.append], serial="phone-1")
    error = ValueError("no")

    def fail() -> None:
        with Step("outer", "phone-1", observers):
            with Step("inner", "phone-1", observers):
                pass
            raise error

    with pytest.raises(ValueError, match="no"):
        fail()

    told = [(type(event), getattr(event, "title", None)) for event in heard]
    assert told == [
        (StepStarted, "outer"),
        (StepStarted, "inner"),
        (StepFinished, None),
        (StepFinished, None),
    ]
    outer, inner, inner_end, outer_end = heard
    assert isinstance(outer_end, StepFinished)
    assert outer_end.error is error
    assert [getattr(e, "id", "") for e in (outer_end, inner_end)] == [
        getattr(e, "id", "") for e in (outer, inner)
    ]


@pytest.mark.parametrize("title", ["", "  ", None, 5])
def test_a_step_needs_a_title(title: str) -> None:
    """A step without a title is refused, with an example."""
    client = Clawperator.__new__(Clawperator)

    with pytest.raises(ConfigurationError, match="needs a title"):
        client.step(title)
