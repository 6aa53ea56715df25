"""The app's exceptions, as its log prints them."""

from __future__ import annotations

from dataclasses import dataclass


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
