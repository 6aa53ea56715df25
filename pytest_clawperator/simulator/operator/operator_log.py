"""The log lines of the Operator, with Java's exceptions and number formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_clawperator.simulator.android.log_buffer import LogBuffer


@dataclass(frozen=True)
class JavaError:
    """An exception of the app, for its log."""

    message: str
    java_class: str = "java.lang.IllegalStateException"

    @property
    def text(self) -> str:
        """The exception as ``toString`` gives it."""
        return f"{self.java_class}: {self.message}"

    def stack_trace(self, *, release: bool) -> str:
        """Return it as the app's log prints it."""
        frames = _RELEASE_FRAMES if release else _DEBUG_FRAMES
        return "\n".join([self.text, *(f"\tat {at}" for at in frames)])


_LOOPER_FRAMES = (
    "android.os.Handler.handleCallback(Handler.java:959)",
    "android.os.Handler.dispatchMessage(Handler.java:100)",
    "android.os.Looper.loopOnce(Looper.java:232)",
    "android.os.Looper.loop(Looper.java:317)",
    "android.app.ActivityThread.main(ActivityThread.java:8705)",
)
_DEBUG_FRAMES = (
    "clawperator.task.runner.UiActionEngineDefault.executeSingle(UiActionEngine.kt)",
    "clawperator.operator.agent.AgentCommandExecutorDefault.execute(AgentCommandExecutorDefault.kt)",
    *_LOOPER_FRAMES,
)
_RELEASE_FRAMES = ("G1.P.d(Unknown Source:0)", "y1.b.a(Unknown Source:12)", *_LOOPER_FRAMES)


class ProcessDied(Exception):
    """The app's process has to die; ``error`` is the exception that kills it."""

    def __init__(self, error: JavaError) -> None:
        super().__init__(error.message)
        self.error = error


_SPECIFIER = re.compile(r"%(\d+\$|<)?([-#+ 0,(]*)(\d+)?(\.\d+)?([tT]?)([a-zA-Z%])")
_GENERAL = frozenset("bBhHsS")
_OTHERS = frozenset("cCdoxXeEfgGaA")
_DATES = frozenset("HIklMSLQpNszTrRcCdejmyYaAbBhDFZ")
# The order in which Java looks for flags that do not go with the conversion.
_BAD_FLAGS = "#+ 0,("


class FormatFailure(Exception):
    """Formatting threw; the message is that of the Java exception."""


def formatted(message: str, argument: str) -> str:
    """Format a message with one exception as its argument, as the app's log does.

    ``argument`` is the exception as text, which begins with its class.
    """
    count = message.count("%")
    if not count:
        return message
    if count > 1:
        raise FormatFailure(
            f"Message contains {count} placeholders, but 1 arguments were provided.\n"
            f"  message: {message}, args: {argument}"
        )
    found = _SPECIFIER.search(message)
    if found is None:
        rest = message.partition("%")[2]
        raise FormatFailure(f"Conversion = '{rest[:1] or '%'}'")
    value = _converted(found, argument)
    return message[: found.start()] + value + message[found.end() :]


def formatted_or_dead(message: str, error: JavaError) -> str:
    """Format a message in the app's last error handler, whose own failure kills the process."""
    try:
        return formatted(message, error.text)
    except FormatFailure as problem:
        dead = JavaError(str(problem), "java.lang.IllegalArgumentException")
        raise ProcessDied(dead) from None


def _converted(found: re.Match[str], argument: str) -> str:
    index, flags, width, _, date, conversion = found.groups()
    if conversion not in (_DATES if date else _GENERAL | _OTHERS | {"n"}):
        raise FormatFailure(f"Conversion = '{date}{conversion}'")
    if conversion == "n" and not date:
        return "\n"
    if index not in (None, "1$"):
        raise FormatFailure(f"Format specifier '{found[0]}'")
    bad = next((flag for flag in _BAD_FLAGS if flag in flags), None)
    is_general = conversion in _GENERAL and not date
    if bad is not None and (is_general or date or conversion == "c"):
        raise FormatFailure(f"Conversion = {conversion}, Flags = {bad}")
    if "-" in flags and width is None:
        raise FormatFailure(found[0])
    if not is_general:
        raise FormatFailure(f"{conversion} != {argument.partition(':')[0]}")
    return argument  # only a log line has it; widths and other forms are not imitated


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
        self.pid = pid
        self._release = is_release

    def class_name(self, name: str) -> str:
        """Return a class's simple name as this build has it."""
        # R8 hands out short names in the order of the classes; any stable letter will do.
        return chr(ord("a") + sum(map(ord, name)) % 26) if self._release else name

    def _write(self, level: str, source: Source, message: str) -> None:
        self._log.timber(level, source.value[self._release], message, pid=self.pid())

    def debug(self, source: Source, message: str) -> None:
        """Log at level D."""
        self._write("D", source, message)

    def info(self, source: Source, message: str) -> None:
        """Log at level I."""
        self._write("I", source, message)

    def warn(self, source: Source, message: str) -> None:
        """Log at level W."""
        self._write("W", source, message)

    def error(self, source: Source, message: str, cause: JavaError | None = None) -> None:
        """Log at level E, with the stack trace of the cause."""
        if cause is not None:
            message = f"{message}\n{cause.stack_trace(release=self._release)}"
        self._write("E", source, message)

    def crash(self, package: str, error: JavaError) -> None:
        """Log what a process logs that dies of an uncaught exception."""
        pid = self.pid()
        trace = error.stack_trace(release=self._release)
        text = f"FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{trace}"
        self._log.write("E", "AndroidRuntime", text, pid=pid, buffer="crash")
        self._log.write("I", "Process", f"Sending signal. PID: {pid} SIG: 9", pid=pid)

    def foreign(self, tag: str, message: str, *, pid: int, priority: str = "D") -> None:
        """Log a line of another process."""
        self._log.write(priority, tag, message, pid=pid, tid=pid + 3)


def map_text(values: Mapping[str, str]) -> str:
    """Return a map as Kotlin prints it."""
    return "{" + ", ".join(f"{key}={value}" for key, value in values.items()) + "}"
