"""The log lines of the Operator."""

from __future__ import annotations

from tests.simulator.operator.fakes import OK, Bench, action, button, command, screen


class TestPercentSigns:
    """A failure's reason is the published app's log format."""

    def run(self, text: str) -> Bench:
        """Fail at finding a text."""
        bench = Bench(profile="0.5.3")
        bench.send(command(action("click", matcher={"contentDescContains": text}, retry={})))
        return bench

    def test_one_percent_sign_replaces_the_reason(self) -> None:
        """The envelope has what the formatter says."""
        (envelope,) = self.run("50% off").envelopes()

        assert envelope["error"] == "o != java.lang.IllegalStateException"

    def test_two_percent_signs_kill_the_process(self) -> None:
        """The error handler fails as well, and there is no envelope."""
        bench = self.run("10%20%30")

        assert bench.results() == []
        fatal = next(line for line in bench.lines() if "FATAL" in line)
        assert "Message contains 2 placeholders, but 1 arguments were provided." in fatal

    def test_a_percent_sign_at_the_end_kills_the_process(self) -> None:
        """What the formatter says of it cannot be formatted either."""
        bench = Bench(profile="0.5.3")

        bench.send(command(action("open_app", applicationId="50%", retry={})))

        assert bench.results() == []
        assert not bench.app.alive

    def test_a_valid_format_is_filled_in(self) -> None:
        """Only the log line changes, not the reason."""
        bench = self.run("%s")

        assert "contentDescContains=%s)" in bench.envelopes()[0]["error"]
        assert bench.app.alive

    def test_to_the_specification_it_is_a_character(self) -> None:
        """The other profile has no such trouble."""
        bench = Bench()

        step = bench.step("click", matcher={"textContains": "%20%20"}, retry={})

        assert step["data"] == {"error": "NODE_NOT_FOUND"}


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
