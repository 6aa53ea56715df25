"""No test goes on after an action that reached another node, or none: on both Operators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connect import connect
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.errors import ErrorCode, StepFailedError
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.simulator import Simulator

PACKAGE = "com.example.forms"
APP = f"""
package: {PACKAGE}
name: Forms
start: home
state: {{taps: 0, ready: false, late: false, typed: "", rows: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}
screens:
  home:
    title: Forms
    on_open: {{after: 9s, do: {{set: {{late: true}}}}}}
    items:
      - {{text: "Taps: {{taps}}", id: taps}}
      - {{text: Go, id: heading}}
      - {{button: Go, id: go, on_tap: {{add: {{taps: 1}}}}}}
      - {{button: Never, id: never, enabled_if: ready, on_tap: {{add: {{taps: 1}}}}}}
      - {{button: Late, id: late, enabled_if: late, on_tap: {{add: {{taps: 1}}}}}}
      - {{button: Only, id: only, on_tap: {{add: {{taps: 1}}}}}}
      - {{button: Break, on_tap: {{crash: "java.lang.IllegalStateException: no"}}}}
      - {{field: Name, id: name, bind: typed, enabled_if: ready}}
      - {{row: Shared, desc: Shared, id: shared, on_tap: {{add: {{taps: 1}}}}}}
      - list: rows
        items:
          - {{row: "Row {{item}}", repeat: rows, on_tap: {{add: {{taps: 1}}}}}}
          - {{button: Below, id: below, enabled_if: ready, on_tap: {{add: {{taps: 1}}}}}}
          - {{text: Twice}}
          - {{button: Twice, id: twice, on_tap: {{add: {{taps: 1}}}}}}
          - {{button: Last, id: last, on_tap: {{add: {{taps: 1}}}}}}
"""


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clawperator]:
    """Connect to a phone that has the app."""
    app = tmp_path_factory.mktemp("apps") / "forms.yaml"
    app.write_text(APP, encoding="utf-8")
    with Simulator(devices=1, seed=1, time_scale=0.05, apps=[app]) as simulator:
        address = f"{simulator.adb_host}:{simulator.adb_port}"
        with connect(simulator.serials[0], adb=address) as claw:
            yield claw


@pytest.fixture(params=["documented", "0.5.3"])
def claw(connected: Clawperator, request: pytest.FixtureRequest) -> Clawperator:
    """Return a client of the phone with the app just opened, and with either Operator."""
    connected.device.shell("sim reset")
    connected.device.shell(f"sim profile {request.param}")
    connected.open_app(PACKAGE)
    connected.wait_for_node(text="Taps: 0")
    return connected


def taps(claw: Clawperator) -> str:
    """Return how often something was tapped."""
    claw.scroll_to_top()
    return claw.read_text(id="taps")


def finished(claw: Clawperator) -> list[ExecutionFinished]:
    """Return a list that each execution to come is added to."""
    events: list[ExecutionFinished] = []

    def note(event: Event) -> None:
        if isinstance(event, ExecutionFinished):
            events.append(event)

    assert isinstance(claw.runner, Pipeline)
    claw.runner.observers.add(note)
    return events


def test_a_proved_click_is_one_execution_and_one_step(claw: Clawperator) -> None:
    """Who watches sees the click alone, as if it had been sent alone; its look is kept."""
    events = finished(claw)

    step = claw.click(text="Only")

    (event,) = events
    assert event.result is not None
    assert [(one.id, one.action_type) for one in event.result.steps] == [("click-1", "click")]
    assert [action.type for action in event.execution.actions] == [
        "wait_for_node",
        "snapshot_ui",
        "click",
    ]
    assert step.proof.snapshot.find(text="Taps: 0")
    assert taps(claw) == "Taps: 1"


def test_a_click_on_one_of_several_is_an_error(claw: Clawperator) -> None:
    """The title is tapped instead of the button; the test learns of it, and what to write."""
    with pytest.raises(StepFailedError) as refused:
        claw.click(text="Go")

    assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
    assert "2 nodes match node(text='Go'), and the first was tapped" in refused.value.message
    assert "role='button' matches only 2." in str(refused.value.hint)
    claw.click(text="Go", role="button")
    claw.node(text="Go").last.click()
    claw.node(text="Go").first.click()
    assert taps(claw) == "Taps: 2"


def test_nodes_whose_taps_go_to_one_are_one(claw: Clawperator) -> None:
    """A row and the label in it are the same thing to a tap."""
    assert claw.node(text="Shared").count() > 1

    claw.click(text="Shared")

    assert taps(claw) == "Taps: 1"


def test_the_first_wins_where_that_is_wanted(claw: Clawperator) -> None:
    """With ``matchers="first"`` the action is sent alone."""
    events = finished(claw)

    claw.matchers = "first"
    try:
        claw.click(text="Go")
    finally:
        claw.matchers = "strict"

    assert [action.type for action in events[0].execution.actions] == ["click"]


def test_a_disabled_button_is_an_error(claw: Clawperator) -> None:
    """A tap on it does nothing, whatever the Operator says of it."""
    with pytest.raises(StepFailedError) as refused:
        claw.click(text="Never", timeout=2)

    assert refused.value.code is ErrorCode.NODE_NOT_CLICKABLE
    assert "click node(text='Never'): it is disabled for 2 s" in refused.value.message
    assert taps(claw) == "Taps: 0"


@pytest.mark.parametrize("id", ["late", f"{PACKAGE}:id/late"])
def test_a_button_that_is_enabled_in_time_is_tapped_once(claw: Clawperator, id: str) -> None:
    """What is enabled after nine seconds is waited for, and tapped exactly once."""
    claw.click(id=id, timeout=20)

    assert taps(claw) == "Taps: 1"


def test_a_disabled_field_is_not_filled(claw: Clawperator) -> None:
    """A text does not get into a field that takes none."""
    with pytest.raises(StepFailedError) as refused:
        claw.enter_text("Ada", text="Name", timeout=1)

    assert refused.value.code is ErrorCode.NODE_NOT_CLICKABLE
    assert "it is disabled" in refused.value.message


def test_a_read_of_several_is_an_error(claw: Clawperator) -> None:
    """Reading is about one node, too; waiting for any of them is not."""
    claw.wait_for_node(text_contains="go")

    with pytest.raises(StepFailedError) as refused:
        claw.read_text(text_contains="go", timeout=1)

    assert refused.value.code is ErrorCode.NODE_AMBIGUOUS
    assert "tapped" not in refused.value.message


@pytest.mark.parametrize("method", ["scroll_and_click", "scroll_until"])
def test_a_scroll_taps_only_what_it_reaches(claw: Clawperator, method: str) -> None:
    """A scroll that taps follows the same rules, and remains one step."""
    events = finished(claw)
    options = {"click": True} if method == "scroll_until" else {}
    scroll = getattr(claw, method)

    outcome = scroll(text="Last", **options)
    with pytest.raises(StepFailedError) as disabled:
        scroll(text="Below", timeout=1, **options)
    with pytest.raises(StepFailedError) as several:
        scroll(text="Twice", **options)

    assert outcome.found
    assert events[0].result is not None
    assert [step.action_type for step in events[0].result.steps] == [method]
    assert disabled.value.code is ErrorCode.NODE_NOT_CLICKABLE
    assert "it is disabled" in disabled.value.message
    assert several.value.code is ErrorCode.NODE_AMBIGUOUS
    assert taps(claw) == "Taps: 1"


def test_a_scroll_that_finds_nothing_says_so(claw: Clawperator) -> None:
    """The tap that was to follow does not hide why the scroll failed."""
    with pytest.raises(StepFailedError) as missed:
        claw.scroll_until(text="Nowhere", click=True, max_scrolls=2)

    assert missed.value.code is ErrorCode.TARGET_NOT_FOUND


def test_a_batch_is_proved_step_by_step(claw: Clawperator) -> None:
    """Each action of a batch has its own look, in one execution."""
    events = finished(claw)

    with claw.batch() as b:
        b.click(text="Only")
        read = b.read_text(id=f"{PACKAGE}:id/taps")

    assert read.value == "Taps: 1"
    assert len(events) == 1
    assert events[0].result is not None
    assert [step.id for step in events[0].result.steps] == ["click-1", "read_text-2"]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("Go", ErrorCode.NODE_AMBIGUOUS, "step 2 of 3 of the batch: click: 2 nodes match"),
        ("Never", ErrorCode.NODE_NOT_CLICKABLE, "step 2 of 3 of the batch: click"),
    ],
)
def test_a_batch_does_not_go_on_silently(
    claw: Clawperator, text: str, code: ErrorCode, said: str
) -> None:
    """A step that did not reach its node fails the batch, and is named."""
    batch = claw.batch()

    with pytest.raises(StepFailedError) as refused, batch:  # noqa: PT012 - it is sent at the end
        batch.click(text="Only")
        batch.click(text=text)
        batch.click(text="Only")

    assert refused.value.code is code
    assert refused.value.message.startswith(said)


def test_a_crashed_app_is_named_first(claw: Clawperator) -> None:
    """What Android says of the app is the beginning of every failure."""
    claw.click(text="Break")
    claw.wait_for_node(text="Forms has stopped")

    with pytest.raises(StepFailedError) as missed:
        claw.click(text="Only", timeout=1)

    assert missed.value.message.startswith('"Forms has stopped" is on the screen; click: no node')
