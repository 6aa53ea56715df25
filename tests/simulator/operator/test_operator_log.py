"""The log lines of the Operator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.operator.fakes import OK, Bench, action, button, command, screen


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        # The envelope has what the formatter says.
        (
            action("click", matcher={"contentDescContains": "50% off"}, retry={}),
            "o != java.lang.IllegalStateException",
        ),
        # A valid format changes only the log line.
        (
            action("click", matcher={"contentDescContains": "%s"}, retry={}),
            "Task execution failed: No UI node found matching criteria: NodeMatcher("
            "resourceId=null, role=null, textEquals=null, textContains=null, "
            "contentDescEquals=null, contentDescContains=%s)",
        ),
        # Two of them, or one at the end, kill the process: the error handler fails as well.
        (action("click", matcher={"contentDescContains": "10%20%30"}, retry={}), None),
        (action("open_app", applicationId="50%", retry={}), None),
    ],
)
def test_a_percent_sign_in_a_reason_is_a_format_to_the_published_app(
    failing: dict[str, Any], error: str | None
) -> None:
    """The reason of a failure is the published app's log format; the specification has no such."""
    bench, documented = Bench(profile="0.5.3"), Bench()

    for each in (bench, documented):
        each.send(command(failing))

    assert [envelope["error"] for envelope in bench.envelopes()] == ([error] if error else [])
    assert bench.app.alive == (error is not None)
    assert documented.envelopes()[0]["error"].endswith("_NOT_FOUND")
    if "10%20%30" in str(failing):
        text = "Message contains 2 placeholders, but 1 arguments were provided."
        assert text in next(line for line in bench.lines() if "FATAL" in line)


def test_debug_builds_log_under_class_names_and_release_builds_under_short_ones() -> None:
    """Tags are class names, which a release build renames; the messages are the same."""
    debug, release = Bench(screen(button())), Bench(screen(button()), is_release=True)
    for bench in (debug, release):
        bench.send(command(action("wait_for_node", matcher=OK), action("snapshot_ui")))

    def tags(bench: Bench) -> dict[str, str]:
        return {
            "stage-" if " stage-" in line.message else line.message.partition(" ")[0]: line.tag
            for line in bench.entries()
        }

    assert tags(debug) | {
        "[Clawperator-Result]": "AgentCommandExecutorDefault$execute",
        "[Clawperator-Command]": "AgentCommandExecutorDefault$execute",
        "[TaskRunnerManager]": "TaskRunnerManagerDefault",
        "[UiActionEngine]": "UiActionEngineDefault",
        "[TaskScope]": "TaskScopeDefault",
        "[TaskUiScope]": "TaskUiScopeDefault$waitForNode$operation",
        "[Operator-Receiver]": "OperatorCommandReceiver$onReceive",
        "stage-": "LoggingTaskStatusSink",
    } == tags(debug)
    short = {"[TaskRunnerManager]": "w", "[TaskScope]": "E", "stage-": "o"}
    assert tags(release) | short == tags(release)
    assert release.results() == debug.results()
    assert not any("type=SnapshotUi" in line for line in release.lines())
