"""What the Operator logs: the tag of each part of the app, and how it writes a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.operator.answer.java_error import JavaError

RESULT_PREFIX = "[Clawperator-Result]"

COMMAND = "[Clawperator-Command]"

ENGINE = "[UiActionEngine]"

MANAGER = "[TaskRunnerManager]"

RECEIVER = "[Operator-Receiver]"

RUNNER = "[TaskRunner]"

SCOPE = "[TaskScope]"

SERVICE = "[Operator-AccessibilityService]"

TREE_MANAGER = "[UiTreeManager]"

UI_SCOPE = "[TaskUiScope]"


class Source(Enum):
    """A part of the app that logs: its tag in a debug build, and in a release build.

    Tags are class names. A release build renames classes; those that the manifest names, and
    tags that are constants, stay.
    """

    RECEIVER = ("OperatorCommandReceiver", "OperatorCommandReceiver")
    RECEIVER_WORK = ("OperatorCommandReceiver$onReceive", "e")
    EXECUTOR = ("AgentCommandExecutorDefault", "b")
    EXECUTOR_WORK = ("AgentCommandExecutorDefault$execute", "a")
    STATUS_SINK = ("LoggingTaskStatusSink", "o")
    TASK_SCOPE = ("TaskScopeDefault", "E")
    UI_SCOPE = ("TaskUiScopeDefault", "L")
    WAIT_FOR_NODE = ("TaskUiScopeDefault$waitForNode$operation", "K")
    ENGINE = ("UiActionEngineDefault", "P")
    MANAGER = ("TaskRunnerManagerDefault", "w")
    RUNNER = ("TaskRunnerDefault", "r")
    TREE_MANAGER = ("UiTreeManagerAndroid", "f")
    INSPECTOR = ("UiTreeInspectorAndroid", "c")
    SERVICE = ("OperatorAccessibilityService", "OperatorAccessibilityService")
    RECORDING = ("RecordingRuntime", "RecordingRuntime")


class OperatorLog:
    """The app's side of the device's log; everything is logged by its main thread."""

    def __init__(self, log: LogBuffer, *, pid: Callable[[], int], is_release: bool) -> None:
        self._log = log
        self._pid = pid
        self._release = is_release

    @property
    def pid(self) -> int:
        """The process id of the app."""
        return self._pid()

    def tag(self, source: Source) -> str:
        """Return the tag under which a part of the app speaks."""
        debug, release = source.value
        return release if self._release else debug

    def class_name(self, name: str) -> str:
        """Return a class's simple name as this build has it."""
        return _renamed(name) if self._release else name

    def debug(self, source: Source, message: str) -> None:
        """Log at level D."""
        self._log.timber("D", self.tag(source), message, pid=self._pid())

    def info(self, source: Source, message: str) -> None:
        """Log at level I."""
        self._log.timber("I", self.tag(source), message, pid=self._pid())

    def warn(self, source: Source, message: str) -> None:
        """Log at level W."""
        self._log.timber("W", self.tag(source), message, pid=self._pid())

    def error(self, source: Source, message: str, cause: JavaError | None = None) -> None:
        """Log at level E, with the stack trace of the cause."""
        if cause is not None:
            message = f"{message}\n{cause.stack_trace(release=self._release)}"
        self._log.timber("E", self.tag(source), message, pid=self._pid())

    def crash(self, package: str, error: JavaError) -> None:
        """Log what a process logs that dies of an uncaught exception."""
        pid = self._pid()
        trace = error.stack_trace(release=self._release)
        text = f"FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{trace}"
        self._log.write("E", "AndroidRuntime", text, pid=pid, buffer="crash")
        self._log.write("I", "Process", f"Sending signal. PID: {pid} SIG: 9", pid=pid)

    def foreign(self, tag: str, message: str, *, pid: int, priority: str = "D") -> None:
        """Log a line of another process."""
        self._log.write(priority, tag, message, pid=pid, tid=pid + 3)


def _renamed(name: str) -> str:
    # R8 hands out short names in the order of the classes; any stable letter will do.
    return chr(ord("a") + sum(map(ord, name)) % 26)


def map_text(values: Mapping[str, str]) -> str:
    """Return a map as Kotlin prints it."""
    return "{" + ", ".join(f"{key}={value}" for key, value in values.items()) + "}"
