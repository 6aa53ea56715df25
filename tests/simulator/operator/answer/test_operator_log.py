"""The tags of the Operator's log."""

from __future__ import annotations

from tests.simulator.operator.fakes import (
    OK,
    Bench,
    action,
    button,
    command,
    screen,
)

HOME = action("press_key", key="home")


def test_debug_builds_log_under_class_names() -> None:
    """In a debug build tags are class names."""
    bench = Bench(screen(button()))

    bench.send(command(action("wait_for_node", matcher=OK), action("snapshot_ui")))

    tags = {line.message.partition(" ")[0]: line.tag for line in bench.entries()}
    assert tags["[Clawperator-Result]"] == "AgentCommandExecutorDefault$execute"
    assert tags["[Clawperator-Command]"] == "AgentCommandExecutorDefault$execute"
    assert tags["[TaskRunnerManager]"] == "TaskRunnerManagerDefault"
    assert tags["[UiActionEngine]"] == "UiActionEngineDefault"
    assert tags["[TaskScope]"] == "TaskScopeDefault"
    assert tags["[TaskUiScope]"] == "TaskUiScopeDefault$waitForNode$operation"
    assert tags["[Operator-Receiver]"] == "OperatorCommandReceiver$onReceive"
    stages = {line.tag for line in bench.entries() if " stage-" in line.message}
    assert stages == {"LoggingTaskStatusSink"}


def test_release_builds_log_under_short_names() -> None:
    """In a release build classes have other names, but the messages are the same."""
    bench, debug = Bench(is_release=True), Bench()

    for either in (bench, debug):
        either.send(command(action("snapshot_ui"), HOME))

    tags = {line.message.partition(" ")[0]: line.tag for line in bench.entries()}
    assert tags["[TaskRunnerManager]"] == "w"
    assert tags["[TaskScope]"] == "E"
    assert {line.tag for line in bench.entries() if "stage-" in line.message} == {"o"}
    assert bench.results() == debug.results()
    assert not any("type=SnapshotUi" in line for line in bench.lines())
