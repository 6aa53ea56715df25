"""The client: everything a test does with its device begins here."""

from __future__ import annotations

import code
import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from uuid import uuid4

from typing_extensions import Self, Unpack

from pytest_clawperator.client import timing
from pytest_clawperator.client.actions import Actions
from pytest_clawperator.client.batch import Batch
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.perform import Matchers, Performer, matchers_of
from pytest_clawperator.client.target import TargetLike, target_of
from pytest_clawperator.contracts import events, foreign_names
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.ecmascript import to_string
from pytest_clawperator.contracts.envelope import UNREAD
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.payload import (
    Action,
    Execution,
    complete_execution,
    override_timeout,
)
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import (
    ClawperatorError,
    ClawperatorWarning,
    ConfigurationError,
    ExpectationError,
)
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible, visible_line

__tracebackhide__ = True  # a failure is shown at the test's own line
_PACKAGE = f"{__name__.partition('.')[0]}."


class Skills(Protocol):
    """Finds, runs and compiles skills for one device; higher layers provide it."""

    def run(
        self,
        serial: str,
        skill_id: str,
        words: Sequence[str],
        *,
        timeout: float | None,
        wanted: str | None,
    ) -> events.SkillRun:
        """Run the script of a skill on the device."""

    def compile(self, skill_id: str, artifact: str, variables: Mapping[str, Any]) -> Execution:
        """Compile a recipe."""


def no_skills() -> Skills:
    """Raise, because the client was made without skills."""
    raise ConfigurationError(
        "this client was made without skills",
        hint="Give the client its skills when it is made.",
    )


Payload = Execution | dict[str, Any] | Sequence[TypedAction | Action | dict[str, Any]] | str | bytes


class Clawperator(Actions, HintsAtNames):
    """A device under test: a method for every action, locators, batches, whole payloads.

        with connect() as claw:
            claw.open_app("com.android.settings")
            claw.scroll_and_click(text="About phone")
            assert claw.read_value(label="Android version") == "16"

    Methods raise a ``StepFailedError`` if a step failed; :meth:`execute` returns the
    envelope, even of a failure. ``timeout`` is how many seconds methods look for a node by
    default. ``matchers`` decides what happens when several nodes match an action on one:
    with ``"strict"`` that is an error, and every action is proved by a snapshot; with
    ``"first"`` the first wins, as on the device.
    """

    _own_word = "claw"
    _their_names = foreign_names.CLIENT

    #: What :meth:`pause` calls, with the frame of the test.
    pauser: Callable[[Clawperator, FrameType | None], None]
    #: Who closes the client, if not the code that uses it.
    owner: str | None = None

    def __init__(
        self,
        runner: Runner,
        *,
        device: Device,
        timeout: float = 5.0,
        matchers: Matchers = "strict",
        skills: Callable[[], Skills] = no_skills,
    ) -> None:
        super().__init__(Performer(runner, matchers=matchers), device=device, timeout=timeout)
        device._on_use = lambda: self.performer.apps.seen.touched()
        self._runner = runner
        self._skills = skills
        self.pauser = pause_script

    @property
    def runner(self) -> Runner:
        """What runs its executions: over adb, or through another host."""
        return self._runner

    @property
    def matchers(self) -> Matchers:
        """What happens when several nodes match; see the class."""
        return self.performer.matchers

    @matchers.setter
    def matchers(self, given: Matchers) -> None:
        self.performer.matchers = matchers_of(given)

    def close(self) -> None:
        """Release the device; what was changed through ``device`` stays.

        The client of a fixture is closed by the run: other tests use it, too.
        """
        self._require_own("close()")
        self._runner.close()

    def __enter__(self) -> Self:
        self._require_own("`with`, which closes it,")
        return self

    def _require_own(self, use: str) -> None:
        if self.owner is not None:
            raise ConfigurationError(
                f"{use} is not possible: {self.owner} closes this client, and others use it until"
                " then",
                serial=self.serial,
                hint="Leave it out, or open a client of your own.",
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Clawperator {visible_line(self.serial)}>"

    if not TYPE_CHECKING:  # type checkers report by themselves that it is not callable

        def __call__(self, *_: object, **__: object) -> NoReturn:
            """Refuse a call, which in uiautomator2 finds a node: ``d(text="OK")``."""
            raise ConfigurationError(
                "a client cannot be called", hint='Write claw.node(text="OK").'
            )

    # Whole payloads

    def execute(self, payload: Payload, timeout: float | None = None) -> RunResult:
        """Run a payload, or a list of actions, and return its envelope, even of a failure.

        ``envelope = claw.execute([{"id": "snap", "type": "snapshot_ui"}])``

        Ids, source and timeout are filled in; ``timeout`` replaces the payload's own. The
        envelope is the published program's answer, without the client's stricter judgement.
        """
        execution = complete_execution(payload)
        if timeout is not None:
            execution = override_timeout(execution, timeout)
        late = _late_close(execution)
        if late is not None:
            warnings.warn(
                f"close_app {late!r} is not the first action, but it is carried out before all "
                "others: use claw.batch(), or a separate execution",
                ClawperatorWarning,
                stacklevel=2,
            )
        result = self._runner.run(execution)
        if not result.ok:
            frame = _calling_frame()
            UNREAD.add(result, frame.f_code.co_filename, frame.f_lineno)
        return result

    # Skills

    def run_skill(
        self,
        skill_id: str,
        args: Sequence[Any] = (),
        *,
        timeout: float | None = None,
        expect_contains: str | None = None,
    ) -> events.SkillRun:
        """Run the script of a skill on this device; raise if it fails.

        ``done = claw.run_skill("com.example.shop.search", ["lamp"], expect_contains="Item")``

        The script gets the device and then ``args``, each as text. Its host program may use the
        device meanwhile; no other run can. ``timeout`` is how many seconds it may take (120),
        ``expect_contains`` a text that it must print. What it printed is in ``done.output``,
        and in the trace of the test.
        """
        words = _words(args)
        wanted: object = expect_contains
        if wanted is not None and not (isinstance(wanted, str) and wanted):
            raise ConfigurationError(
                f"expect_contains= must be a text that is not empty, found {shown(wanted)}",
                hint="Leave it out if the output does not matter.",
            )
        with self.step(" ".join(["skill", skill_id, *words])):
            return self._run_reported(skill_id, words, timeout=timeout, wanted=expect_contains)

    def _run_reported(self, skill_id: str, words: Sequence[str], **options: Any) -> events.SkillRun:
        """Run a skill, and report its beginning and what it printed to observers."""
        serial, send, begin = self.serial, self._runner.observers.send, time.monotonic()

        def report_end(output: object, complaints: object) -> None:
            send(
                events.SkillFinished(
                    serial=serial,
                    at=time.time(),
                    skill_id=skill_id,
                    elapsed=time.monotonic() - begin,
                    output=str(output),
                    complaints=str(complaints),
                )
            )

        skills = self._skills()
        send(events.SkillStarted(serial=serial, at=time.time(), skill_id=skill_id))
        try:
            done = skills.run(serial, skill_id, words, **options)
        except ClawperatorError as error:
            printed = error.details.get("stdout") or error.details.get("output") or ""
            report_end(printed, error.details.get("stderr", ""))
            raise
        report_end(done.output, done.complaints)
        return done

    def run_artifact(self, skill_id: str, artifact: str, /, **variables: Any) -> RunResult:
        """Compile a recipe of a skill, run it, and return its envelope, even of a failure.

        ``envelope = claw.run_artifact("com.example.shop.show-item", "show-item", NUMBER=3)``

        Every variable of the recipe needs a value, and no other may be given.
        """
        # Each run needs its own id, by which its envelope is found.
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
                hint='Name what the part does, as in claw.step("Sign in").',
            )
        return _Step(title, self._runner)

    def expecting_crash(self, *, timeout: float | None = None) -> AbstractContextManager[None]:
        """Expect the app under test to crash, to hang or to die in the block.

            with claw.expecting_crash():
                claw.click(text="Crash")

        The block waits for it, for ``timeout`` seconds, and fails if it does not happen. Elsewhere
        a crash of the app fails the test.
        """
        return _ExpectedCrash(self, timing.timeout_of(timeout, self.timeout))

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
        """Return a locator: a description of a node, which is looked up whenever it is used.

            row = claw.node(id="product", has=claw.node(text="Item 3"))
            row.click()

        ``has`` is a node inside it, ``within`` one around it.
        """
        return Locator(target_of(target, matcher, within=within, has=has, verb="node"), self)

    def pause(self) -> None:
        """Stop here with a prompt, if there is a terminal; the device stays as it is.

        ``claw.pause()``
        """
        self.pauser(self, sys._getframe(1))


def _calling_frame() -> FrameType:
    """Return the frame of the code that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def _late_close(execution: Execution) -> str | None:
    """Return the id of the first close_app that comes after another action."""
    others = [action.type != "close_app" for action in execution.actions]
    for place, action in enumerate(execution.actions):
        if action.type == "close_app" and any(others[:place]):
            return action.id
    return None


# Parts of a test, skills, and the prompt of pause()


class _Step:
    """A part of a test, whose beginning and end are reported to observers.

    A class, so that the line that enters the block is that of the test.
    """

    def __init__(self, title: str, runner: Runner) -> None:
        self._title = title
        self._runner = runner
        self._id = uuid4().hex
        self._begin = 0.0

    def __enter__(self) -> None:
        self._begin = time.monotonic()
        self._runner.observers.send(
            events.StepStarted(
                serial=self._runner.serial, at=time.time(), id=self._id, title=self._title
            )
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        elapsed = time.monotonic() - self._begin
        self._runner.observers.send(
            events.StepFinished(
                serial=self._runner.serial,
                at=time.time(),
                id=self._id,
                elapsed=elapsed,
                error=error,
            )
        )


class _ExpectedCrash:
    """A part of a test in which the app under test is expected to crash."""

    def __init__(self, client: Clawperator, seconds: float) -> None:
        self._client = client
        self._apps = client.performer.apps
        self._seconds = seconds

    def __enter__(self) -> None:
        self._apps.expect()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            deadline = time.monotonic() + self._seconds
            if error is None and not self._apps.await_expected(deadline, self._client.snapshot):
                raise ExpectationError(
                    f"expected the app under test to crash, and it did not in {self._seconds:g} s",
                    serial=self._client.serial,
                    hint="Let the block do what crashes it; if that takes longer, set timeout=.",
                )
        finally:
            self._apps.stop_expecting()


def _words(args: Sequence[Any]) -> list[str]:
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
    """Whether the program runs in a terminal."""
    streams = (sys.__stdin__, sys.__stdout__)
    return all(stream is not None and _is_terminal(stream) for stream in streams)


def ask(client: Actions, *, why: str, frame: FrameType | None = None) -> None:
    """Run a Python prompt with the names of the frame, until the user leaves it."""
    names: dict[str, Any] = {word: _Leave(word) for word in ("exit", "quit")}
    if frame is not None:
        names |= {**frame.f_globals, **frame.f_locals}
    names[CLIENT_NAME] = client
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - makes the line at the prompt editable
    banner = (
        f"{hide(why)}\n{client.device.info} stays as it is; {CLIENT_NAME} is its client, as in"
        f" {CLIENT_NAME}.snapshot(). Ctrl-D or exit() continues."
    )
    with contextlib.suppress(SystemExit):  # exit() ends the prompt, not the program
        code.interact(visible(banner), local=names, exitmsg="continuing")


class _Leave:
    """Leaves the prompt; Python's own ``exit`` would also close the input of later prompts."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return f"{self._word}() or Ctrl-D continues"

    def __call__(self, _: object = None) -> NoReturn:
        raise SystemExit


def pause_script(client: Actions, frame: FrameType | None) -> None:
    """Pause outside of pytest; without a terminal, print a note and continue."""
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
