"""The client: a device in the hands of a test."""

from __future__ import annotations

import code
import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from uuid import uuid4

from typing_extensions import Self, Unpack

from pytest_clawperator.client.actions import DirectActions
from pytest_clawperator.client.batch import Batch
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.perform import Matchers, Performer, matchers_of
from pytest_clawperator.client.target import TargetLike, target_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.ecmascript import to_string
from pytest_clawperator.contracts.events import (
    Event,
    SkillFinished,
    SkillRun,
    SkillStarted,
    StepFinished,
    StepStarted,
)
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.payload import (
    Action,
    Execution,
    complete_execution,
    override_timeout,
)
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ClawperatorError, ClawperatorWarning, ConfigurationError
from pytest_clawperator.execution.pipeline import Observers, Runner
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible, visible_line


@dataclass(eq=False)
class Step:
    """A part of a test; observers are told of its beginning and its end."""

    title: str
    serial: str
    observers: Observers
    _id: str = field(default_factory=lambda: uuid4().hex)
    _begun: float = 0.0

    def __enter__(self) -> None:
        self._begun = time.monotonic()
        self.observers.send(
            StepStarted(serial=self.serial, at=time.time(), id=self._id, title=self.title)
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.observers.send(
            StepFinished(
                serial=self.serial,
                at=time.time(),
                id=self._id,
                elapsed=time.monotonic() - self._begun,
                error=error,
            )
        )


class Skills(Protocol):
    """What finds, runs and compiles skills, for one device; higher layers give it."""

    def run(
        self,
        serial: str,
        skill_id: str,
        words: Sequence[str],
        *,
        timeout: float | None,
        wanted: str | None,
    ) -> SkillRun:
        """Run the script of a skill on the device."""

    def compile(self, skill_id: str, artifact: str, variables: Mapping[str, Any]) -> Execution:
        """Compile a recipe."""


class NoSkills:
    """The skills of a client that was made without any."""

    def run(self, *_: object, **__: object) -> SkillRun:
        """Raise: there are none."""
        raise self._error()

    def compile(self, *_: object) -> Execution:
        """Raise: there are none."""
        raise self._error()

    def _error(self) -> ConfigurationError:
        return ConfigurationError(
            "this client was made without skills",
            hint="Clients that connect by themselves, and those of tests, have them.",
        )


def telling(
    tell: Callable[[Event], None], serial: str, skill_id: str, run: Callable[[], SkillRun]
) -> SkillRun:
    """Run a script, and tell of its beginning and of what it had printed at its end."""
    begin = time.monotonic()

    def tell_end(output: str, complaints: str) -> None:
        tell(
            SkillFinished(
                serial=serial,
                at=time.time(),
                skill_id=skill_id,
                elapsed=time.monotonic() - begin,
                output=output,
                complaints=complaints,
            )
        )

    tell(SkillStarted(serial=serial, at=time.time(), skill_id=skill_id))
    try:
        done = run()
    except ClawperatorError as error:
        output = error.details.get("stdout") or error.details.get("output") or ""
        tell_end(str(output), str(error.details.get("stderr", "")))
        raise
    tell_end(done.output, done.complaints)
    return done


def as_words(args: Sequence[Any]) -> list[str]:
    """Return the arguments of a script as texts; raise unless they are a list."""
    given: object = args
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ConfigurationError(
            f"args of run_skill() must be a list, found {type(given).__name__}",
            hint='As in run_skill("com.example.shop.search", ["lamp"]).',
        )
    return [to_string(one) for one in given]


CLIENT_NAME = "claw"


def is_interactive() -> bool:
    """Whether there is a terminal with somebody at it."""
    streams = (sys.__stdin__, sys.__stdout__)
    return all(stream is not None and _is_terminal(stream) for stream in streams)


def ask(client: DirectActions, *, why: str, frame: FrameType | None = None) -> None:
    """Run a prompt on the terminal until it is left; the frame's names are defined there."""
    names: dict[str, Any] = {word: _Leave(word) for word in ("exit", "quit")}
    if frame is not None:
        names |= {**frame.f_globals, **frame.f_locals}
    names[CLIENT_NAME] = client
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - makes the line at the prompt one that can be edited
    banner = (
        f"{hide(why)}\n{client.device.info} stays as it is; {CLIENT_NAME} is its client, as in"
        f" {CLIENT_NAME}.snapshot(). Ctrl-D or exit() goes on."
    )
    with contextlib.suppress(SystemExit):  # exit() is said to the prompt, not to the program
        code.interact(visible(banner), local=names, exitmsg="going on")


class _Leave:
    """Leaves the prompt; Python's own ``exit`` would also close the input of later ones."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return f"{self._word}() or Ctrl-D goes on"

    def __call__(self, _: object = None) -> NoReturn:
        raise SystemExit


def pause_script(client: DirectActions, frame: FrameType | None) -> None:
    """Pause outside of pytest; without a terminal, print that and go on."""
    place = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
    if is_interactive():
        ask(client, why=f"paused{place}", frame=frame)
    else:
        print(visible(f"not paused{place}: there is no terminal to ask on"), file=sys.stderr)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except ValueError:  # closed
        return False


Payload = Execution | dict[str, Any] | Sequence[TypedAction | Action | dict[str, Any]] | str | bytes


class Clawperator(DirectActions, HintsAtNames):
    """A device under test: a method for every action, locators, batches, whole payloads.

        with connect() as claw:
            claw.open_app("com.android.settings")
            claw.scroll_and_click(text="About phone")
            assert claw.read_value(label="Android version") == "16"

    Methods raise a ``StepFailedError`` where a step failed; :meth:`execute` returns the
    envelope, a failed one too. ``timeout`` is how many seconds methods
    look for a node unless told otherwise. ``matchers`` says what is so where several nodes
    fit an action on one: ``"strict"``, that is an error, and every action is proved by a look
    at the screen; ``"first"``, the first wins, as on the device.
    """

    _own_word = "claw"
    _their_names = foreign_names.CLIENT

    def __init__(
        self,
        runner: Runner,
        *,
        device: Device,
        timeout: float = 5.0,
        matchers: Matchers = "strict",
        skills: Callable[[], Skills] = NoSkills,
    ) -> None:
        super().__init__(Performer(runner, matchers=matchers), device=device, timeout=timeout)
        self._runner = runner
        self._skills = skills
        self.pauser: Callable[[Clawperator, FrameType | None], None] = pause_script

    @property
    def runner(self) -> Runner:
        """What runs its executions: over adb, or through another host."""
        return self._runner

    @property
    def matchers(self) -> Matchers:
        """What a matcher that several nodes fit means; see the class."""
        return self.performer.matchers

    @matchers.setter
    def matchers(self, given: Matchers) -> None:
        self.performer.matchers = matchers_of(given)

    def close(self) -> None:
        """Release the device; what was changed through ``device`` stays."""
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
        return f"<Clawperator {visible_line(self.serial)}>"

    if not TYPE_CHECKING:  # which say themselves that it is not callable

        def __call__(self, *_: object, **__: object) -> NoReturn:
            """Refuse what is ``d(text="OK")`` in uiautomator2."""
            raise ConfigurationError(
                "a client cannot be called", hint='Here it is called claw.node(text="OK").'
            )

    # Whole payloads

    def execute(self, payload: Payload, timeout: float | None = None) -> RunResult:
        """Run a payload, or a list of actions, and return its envelope, a failed one too.

        ``envelope = claw.execute([{"id": "snap", "type": "snapshot_ui"}])``

        Ids, source and timeout are filled in; ``timeout`` replaces the payload's own. The
        envelope is the published program's answer, without the client's stricter judgement.
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

    # Skills

    def run_skill(
        self,
        skill_id: str,
        args: Sequence[Any] = (),
        *,
        timeout: float | None = None,
        expect_contains: str | None = None,
    ) -> SkillRun:
        """Run the script of a skill on this device; raise if it fails.

        ``done = claw.run_skill("com.example.shop.search", ["lamp"], expect_contains="Item")``

        The script gets the device and then ``args``, each as text. Its host program may use the
        device meanwhile, which stays that of this client. ``timeout`` is how many seconds it may
        take (120), ``expect_contains`` a text that it must print. What it printed is in
        ``done.output``, and in the trace of the test.
        """
        __tracebackhide__ = True
        words = as_words(args)
        run = partial(
            self._skills().run,
            self.serial,
            skill_id,
            words,
            timeout=timeout,
            wanted=expect_contains,
        )
        with self.step(" ".join(["skill", skill_id, *words])):
            return telling(self._runner.observers.send, self.serial, skill_id, run)

    def run_artifact(self, skill_id: str, artifact: str, /, **variables: Any) -> RunResult:
        """Compile a recipe of a skill, run it, and return its envelope, a failed one too.

        ``envelope = claw.run_artifact("com.example.shop.show-item", "show-item", NUMBER=3)``

        Every variable of the recipe needs a value, and no other may be given.
        """
        __tracebackhide__ = True
        # Each run has an id of its own, as its envelope is found by it.
        values = {"COMMAND_ID": f"cmd-{uuid4().hex[:16]}", **variables}
        return self.execute(self._skills().compile(skill_id, artifact, values))

    def batch(self) -> Batch:
        """Collect actions and send them together, in as few executions as possible.

            with claw.batch() as b:
                b.enter_text("ada@example.com", id="com.example.shop:id/email")
                total = b.read_text(id="com.example.shop:id/total")
            print(total.value)

        The methods are the client's; results are there after the block.
        """
        return Batch(self.performer, timeout=self.timeout, device=self.device)

    def step(self, title: str) -> AbstractContextManager[None]:
        """Give a part of the test a name, which reports show; steps can be nested.

            with claw.step("Sign in"):
                claw.enter_text("ada", id="user")
                claw.click(text="Sign in")

        What fails in the block fails the step, too.
        """
        given: object = title
        if not isinstance(given, str) or not given.strip():
            raise ConfigurationError(
                f"step() needs a title, found {shown(title)}",
                hint='Say what the part does, as in claw.step("Sign in").',
            )
        return Step(title, self.serial, self._runner.observers)

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
        """Return a locator: a description of a node, looked for whenever it is used.

            row = claw.node(id="product", has=claw.node(text="Item 3"))
            row.click()

        ``has`` is a node inside it, ``within`` one around it.
        """
        __tracebackhide__ = True
        return Locator(target_of(target, matcher, within=within, has=has, verb="node"), self)

    def pause(self) -> None:
        """Stop here with a prompt, if there is a terminal, and leave the device as it is.

        ``claw.pause()``
        """
        self.pauser(self, sys._getframe(1))


def _late_close(execution: Execution) -> str | None:
    """Return the id of the first close_app that comes after another action."""
    others = [action.type != "close_app" for action in execution.actions]
    for place, action in enumerate(execution.actions):
        if action.type == "close_app" and any(others[:place]):
            return action.id
    return None
