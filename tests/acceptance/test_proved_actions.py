"""No test goes on after an action that reached another node, or none: on both Operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.errors import ErrorCode, StepFailedError
from pytest_clawperator.execution.pipeline import Pipeline

PACKAGE = "com.example.forms"


@pytest.fixture
def form(claw: Clawperator) -> Clawperator:
    """Open the app with the forms."""
    claw.open_app(PACKAGE)
    claw.wait_for_node(text="Taps: 0")
    return claw


def taps(form: Clawperator) -> str:
    """Return how often something was tapped."""
    form.scroll_to_top()
    return form.read_text(id="taps")


@pytest.fixture
def finished(form: Clawperator) -> Iterator[list[ExecutionFinished]]:
    """Return a list to which each execution from now on is added."""
    events: list[ExecutionFinished] = []

    def note(event: Event) -> None:
        if isinstance(event, ExecutionFinished):
            events.append(event)

    assert isinstance(form.runner, Pipeline)
    remove = form.runner.observers.add(note)
    yield events
    remove()


def test_a_proved_click_is_one_execution_and_one_step(
    form: Clawperator, finished: list[ExecutionFinished]
) -> None:
    """Observers see the click alone, as if it had been sent alone; its snapshot is kept."""
    step = form.click(text="Only")
    form.matchers = "first"
    try:
        form.click(text="Go")
    finally:
        form.matchers = "strict"

    assert finished[0].result is not None
    assert [(one.id, one.action_type) for one in finished[0].result.steps] == [("click-1", "click")]
    assert [[action.type for action in event.execution.actions] for event in finished] == [
        ["wait_for_node", "snapshot_ui", "click"],
        ["click"],
    ]
    assert step.proof.snapshot.find(text="Taps: 0")
    assert taps(form) == "Taps: 1"  # Go is a heading first


REFUSED: dict[str, tuple[Callable[[Clawperator], object], ErrorCode, str]] = {
    "one of several": (
        lambda form: form.click(text="Go"),
        ErrorCode.NODE_AMBIGUOUS,
        "2 nodes match node(text='Go'), and the first was tapped",
    ),
    "a disabled button": (
        lambda form: form.click(text="Never", timeout=1),
        ErrorCode.NODE_NOT_CLICKABLE,
        "click node(text='Never'): it is disabled for 1 s",
    ),
    "a disabled field": (
        lambda form: form.enter_text("Ada", text="Name", timeout=1),
        ErrorCode.NODE_NOT_CLICKABLE,
        "it is disabled",
    ),
    "a read of several": (
        lambda form: form.read_text(text_contains="go", timeout=1),
        ErrorCode.NODE_AMBIGUOUS,
        "2 nodes match",
    ),
    "a scroll that finds nothing": (
        lambda form: form.scroll_until(text="Nowhere", click=True, max_scrolls=2),
        ErrorCode.TARGET_NOT_FOUND,
        "",
    ),
    "one of several in a batch": (
        lambda form: batch_with(form, "Go"),
        ErrorCode.NODE_AMBIGUOUS,
        "step 2 of 3 of the batch: click: 2 nodes match",
    ),
    "a disabled button in a batch": (
        lambda form: batch_with(form, "Never"),
        ErrorCode.NODE_NOT_CLICKABLE,
        "step 2 of 3 of the batch: click",
    ),
}


def batch_with(form: Clawperator, text: str) -> None:
    """Click three nodes in a batch, of which the second has this text."""
    with form.batch() as batch:
        for one in ("Only", text, "Only"):
            batch.click(text=one)


@pytest.mark.parametrize("case", REFUSED)
def test_an_action_that_does_not_reach_its_node_fails(form: Clawperator, case: str) -> None:
    """The error says what kept it, and the app got no tap but those of a batch."""
    act, code, message = REFUSED[case]

    with pytest.raises(StepFailedError) as refused:
        act(form)

    assert refused.value.code is code
    assert message in refused.value.message
    assert ("tapped" in refused.value.message) is ("one of several" in case)
    assert "batch" in case or taps(form) == "Taps: 0"


def test_one_of_several_nodes_can_be_chosen(form: Clawperator) -> None:
    """By its role or its place; a row and its label are the same to a tap; any may be awaited."""
    with pytest.raises(StepFailedError) as refused:
        form.click(text="Go")
    form.click(text="Go", role="button")
    form.node(text="Go").last.click()
    form.node(text="Go").first.click()
    form.wait_for_node(text_contains="go")
    assert form.node(text="Shared").count() > 1
    form.click(text="Shared")

    assert "role='button' matches only number 2 of these." in str(refused.value.hint)
    assert taps(form) == "Taps: 3"


@pytest.mark.parametrize("id", ["late", f"{PACKAGE}:id/late"])
def test_a_button_that_is_enabled_in_time_is_tapped_once(form: Clawperator, id: str) -> None:
    """What is enabled after nine seconds is waited for, and tapped exactly once."""
    form.click(id=id, timeout=20)

    assert taps(form) == "Taps: 1"


@pytest.mark.parametrize("method", ["scroll_and_click", "scroll_until"])
def test_a_scroll_taps_only_what_it_reaches(
    form: Clawperator, finished: list[ExecutionFinished], method: str
) -> None:
    """A scroll that taps follows the same rules, and remains one step."""
    options = {"click": True} if method == "scroll_until" else {}
    scroll = getattr(form, method)

    outcome = scroll(text="Last", **options)
    with pytest.raises(StepFailedError, match="it is disabled") as disabled:
        scroll(text="Below", timeout=1, **options)
    with pytest.raises(StepFailedError) as several:
        scroll(text="Twice", **options)

    assert outcome.found
    assert finished[0].result is not None
    assert [step.action_type for step in finished[0].result.steps] == [method]
    assert disabled.value.code is ErrorCode.NODE_NOT_CLICKABLE
    assert several.value.code is ErrorCode.NODE_AMBIGUOUS
    assert taps(form) == "Taps: 1"


def test_a_batch_is_proved_step_by_step(
    form: Clawperator, finished: list[ExecutionFinished]
) -> None:
    """Each action of a batch has its own snapshot, in one execution."""
    with form.batch() as b:
        b.click(text="Only")
        read = b.read_text(id=f"{PACKAGE}:id/taps")

    assert read.value == "Taps: 1"
    (event,) = finished
    assert event.result is not None
    assert [step.id for step in event.result.steps] == ["click-1", "read_text-2"]


def test_a_crashed_app_is_named_first(form: Clawperator) -> None:
    """What Android says of the app is the beginning of every failure."""
    with form.expecting_crash():
        form.click(text="Break")
    form.wait_for_node(text="Forms has stopped")

    with pytest.raises(StepFailedError) as missed:
        form.click(text="Only", timeout=1)

    assert missed.value.message.startswith('"Forms has stopped" is on the screen; click: no node')
