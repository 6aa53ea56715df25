"""The client: a device in the hands of a test."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal

from typing_extensions import Self, Unpack

from pytest_clawperator.client.batch.batch import Batch
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.pausing import pause_script
from pytest_clawperator.client.plan import action_plans
from pytest_clawperator.client.plan.performer import Performer
from pytest_clawperator.client.plan.target import TargetLike, target_of
from pytest_clawperator.client.scroll_actions import ScrollActions
from pytest_clawperator.client.uri_check import check_uri
from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.completion import complete_execution, override_timeout
from pytest_clawperator.contracts.keywords import MatcherKeywords
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import ClawperatorWarning, ConfigurationError
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.execution.runner import Runner
from pytest_clawperator.snapshot.tree import Snapshot

Payload = Execution | dict[str, Any] | Sequence[TypedAction | Action | dict[str, Any]] | str | bytes


class Clawperator(ScrollActions):
    """A device that does what it is told.

        with connect() as claw:
            claw.open_app("com.android.settings")
            claw.scroll_and_click(text="About phone")
            assert claw.read_value(label="Android version") == "16"

    Methods raise a ``StepFailedError`` where the device says that something failed;
    :meth:`execute` gives back what the device says. ``timeout`` is how many seconds methods
    look for a node unless told otherwise. With ``strict_matchers`` a matcher that fits
    several nodes is an error; else the first wins, as on the device.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        device: Device,
        timeout: float = 5.0,
        strict_matchers: bool = False,
    ) -> None:
        self._runner = runner
        self.device = device
        self.timeout = timeout
        self.performer = Performer(runner, strict=strict_matchers)
        self.pauser: Callable[[Clawperator, FrameType | None], None] = pause_script

    @property
    def serial(self) -> str:
        """What the device is called."""
        return self._runner.serial

    @property
    def runner(self) -> Runner:
        """Who runs its executions: over adb, or through another host."""
        return self._runner

    def close(self) -> None:
        """Let go of the device; what was changed through ``device`` stays."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Clawperator {self.serial}>"

    # Whole payloads

    def execute(self, payload: Payload, timeout: float | None = None) -> RunResult:
        """Run a payload, or a list of actions, and give its envelope, a failed one too.

        ``envelope = claw.execute([{"id": "snap", "type": "snapshot_ui"}])``

        Ids, source and timeout are filled in; ``timeout`` replaces the payload's own.
        """
        __tracebackhide__ = True
        execution = complete_execution(payload)
        if timeout is not None:
            execution = override_timeout(execution, timeout)
        late = _late_close(execution)
        if late is not None:
            warnings.warn(
                f"close_app {late!r} is not the first action, but it is carried out before all "
                "others: use claw.batch(), or an execution of its own",
                ClawperatorWarning,
                stacklevel=2,
            )
        return self._runner.run(execution)

    def batch(self) -> Batch:
        """Collect actions and send them together, in as few executions as possible.

            with claw.batch() as b:
                b.enter_text("ada@example.com", id="com.example.shop:id/email")
                total = b.read_text(id="com.example.shop:id/total")
            print(total.value)

        The methods are the client's; results are there after the block.
        """
        return Batch(self.performer, timeout=self.timeout, device=self.device)

    # Nodes

    def node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        has: TargetLike | None = None,
        within: TargetLike | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> Locator:
        """Describe a node, to be looked for whenever it is used.

            row = claw.node(id="product", has=claw.node(text="Item 3"))
            row.click()

        ``has`` is a node inside it, ``within`` one around it.
        """
        __tracebackhide__ = True
        return Locator(target_of(target, matcher, within=within, has=has, verb="node"), self)

    # Apps and keys

    def open_app(self, package: str) -> RunStep:
        """Start an app, or bring it to the front; it may take a moment until it is there.

        ``claw.open_app("com.android.settings")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.open_app(package))

    def close_app(self, package: str) -> RunStep:
        """Stop an app, so that it begins anew when it is opened.

        ``claw.close_app("com.android.settings")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.close_app(package))

    def open_uri(self, uri: str) -> RunStep:
        """Open a web address or a deep link.

        ``claw.open_uri("shop://item/3")``
        """
        __tracebackhide__ = True
        check_uri(self.device, uri)
        return self._do(action_plans.open_uri(uri))

    def press_key(self, key: Literal["back", "home", "recents"]) -> RunStep:
        """Press a key of the system; other keys are pressed by ``claw.device.key_event``.

        ``claw.press_key("back")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple(f"press_key {key!r}", actions.PressKey(key)))

    def back(self) -> RunStep:
        """Go back.

        ``claw.back()``
        """
        __tracebackhide__ = True
        return self.press_key("back")

    def home(self) -> RunStep:
        """Go to the home screen.

        ``claw.home()``
        """
        __tracebackhide__ = True
        return self.press_key("home")

    def recents(self) -> RunStep:
        """Show the apps that were used last.

        ``claw.recents()``
        """
        __tracebackhide__ = True
        return self.press_key("recents")

    # The screen

    def snapshot(self, *, timeout: float | None = None) -> Snapshot:
        """Give what is on the screen as a tree of nodes.

        ``assert claw.snapshot().find(text="Wi-Fi")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.snapshot(), timeout)

    def screenshot(self, path: str | Path | None = None) -> bytes:
        """Give a picture of the screen as PNG, and write it to ``path`` if there is one.

        ``claw.screenshot("failed.png")``
        """
        __tracebackhide__ = True
        if path is not None and not isinstance(path, (str, Path)):
            raise ConfigurationError(
                f"screenshot() cannot write to {path!r}", hint="Give a path: text or a Path."
            )
        picture = self._do(action_plans.screenshot())
        if path is not None:
            _write(Path(path), picture)
        return picture

    # Time and recordings

    def sleep(self, seconds: float) -> RunStep:
        """Let the device do nothing for a while; waiting for a node is quicker and surer.

        ``claw.sleep(0.5)``
        """
        __tracebackhide__ = True
        return [self._do(plan) for plan in action_plans.sleeps(seconds)][-1]

    def pause(self) -> None:
        """Stop here with a prompt on the terminal, and the device as it is; without one go on.

        ``claw.pause()``
        """
        self.pauser(self, sys._getframe(1))

    def start_recording(self, session_id: str | None = None) -> RunStep:
        """Record what is done on the device from now on.

        ``claw.start_recording("checkout")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple("start_recording", actions.StartRecording(session_id)))

    def stop_recording(self, session_id: str | None = None) -> RunStep:
        """End the recording; the step's data names the file on the device.

        ``recorded = claw.stop_recording().data["filePath"]``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple("stop_recording", actions.StopRecording(session_id)))


def _late_close(execution: Execution) -> str | None:
    """Give the id of the first close_app that stands behind another action."""
    others = [action.type != "close_app" for action in execution.actions]
    for place, action in enumerate(execution.actions):
        if action.type == "close_app" and any(others[:place]):
            return action.id
    return None


def _write(path: Path, picture: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    except OSError as exc:
        raise ConfigurationError(
            f"the screenshot cannot be written to {path}: {exc.strerror or exc}",
            hint="Give a path that can be written; without one the bytes are only returned.",
        ) from exc
