"""Several actions in as few executions as possible."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Concatenate, Generic, NoReturn, TypeVar

from typing_extensions import ParamSpec, Self

from pytest_clawperator.client import plans
from pytest_clawperator.client.actions import Actions
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.judge import hindered
from pytest_clawperator.client.perform import Performer, SeenValue, Sending
from pytest_clawperator.client.plans import Aim, Plan
from pytest_clawperator.client.timing import Countdown, Wait, timeout_of
from pytest_clawperator.contracts import foreign_names, limits
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.envelope import failure
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import complete_actions, waiting_ms
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible_line

__tracebackhide__ = True  # a failure is shown at the test's own line

P = ParamSpec("P")
T = TypeVar("T")
# What a payload contains besides its actions, generously.
_FRAME_BYTES = 1_000
_MOST_BYTES = limits.MAX_PAYLOAD_BYTES - _FRAME_BYTES
_MOST_WAITING_MS = limits.MAX_TIMEOUT_MS - limits.TIMEOUT_MARGIN_MS


@dataclass(eq=False)
class BatchStep(Generic[T]):
    """An action in a batch; after the block it has a result and a value."""

    plan: Plan[T]
    seconds: float
    _step: RunStep | None = None
    _result: RunResult | None = None
    _seen: SeenValue | None = None

    @property
    def done(self) -> bool:
        """Whether there is a result, even that of a failed step."""
        return self._step is not None

    @property
    def result(self) -> RunStep:
        """The result of the step."""
        if self._step is None:
            raise ConfigurationError(
                f"{self.plan} has no result",
                hint="Results are there after the `with` block; "
                "a batch that failed has only those of the steps before the failure.",
            )
        return self._step

    @property
    def value(self) -> T:
        """What the method returns outside a batch; a failed step raises its error."""
        if self._seen is not None:
            value: T = self._seen.value
            return value
        step, result = self.result, self._result
        assert result is not None
        if not step.success:
            error = failure(step.code or ErrorCode.EXECUTION_FAILED, envelope=result, step=step)
            error.serial = result.serial
            raise error
        return self.plan.value(step, result)

    def __repr__(self) -> str:
        outcome = "not done" if self._step is None else self._step
        return hide(f"<BatchStep {self.plan}: {outcome}>")

    def __bool__(self) -> bool:
        raise ConfigurationError(
            f"{self.plan} is a step of a batch, which is neither true nor false",
            hint="After the `with` block, .value is what it returned; a step that failed raises.",
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, int, float, bytes, list)):
            raise ConfigurationError(
                f"{self.plan} is a step of a batch, which cannot be compared with {shown(other)}",
                hint="After the `with` block, compare .value, which is what it returned.",
            )
        return self is other

    __hash__ = object.__hash__


def _later(
    method: Callable[Concatenate[Actions, P], T],
) -> Callable[Concatenate[Batch, P], BatchStep[T]]:
    """Return a method of the client as a method of a batch.

    It is the same function: it hands its plan to ``self._perform``, and that of a batch
    collects the plan and returns a step.
    """
    return method  # type: ignore[return-value]  # because of _perform


class Batch(HintsAtNames):
    """Collects actions in a ``with`` block and sends them at its end.

    The methods are those of the client and mean the same; each returns a step that has the
    ``result`` and the ``value`` after the block. If the block raises, nothing is sent. One
    execution holds up to 50 actions, 64,000 bytes and two minutes; a close_app and what
    follows a screenshot begin another, and so does a node that must be looked up on a
    snapshot.
    """

    _own_word = "b"
    _their_names = foreign_names.BATCH

    device: Device
    timeout: float

    def __init__(self, performer: Performer, *, timeout: float, device: Device) -> None:
        self._performer = performer
        self._steps: list[BatchStep[Any]] = []
        self._is_open = False
        self._was_open = False
        self.device = device
        self.timeout = timeout

    def __enter__(self) -> Self:
        if self._was_open:
            raise ConfigurationError(
                "the batch was used before: its actions would be sent again",
                hint="Begin another one with `with claw.batch() as b:`.",
            )
        self._is_open = self._was_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_open = False
        if kind is None:
            self._send()

    def __repr__(self) -> str:
        return f"<Batch of {len(self._steps)} on {visible_line(self._performer.serial)}>"

    # The client's methods

    click = _later(Actions.click)
    long_click = _later(Actions.long_click)
    focus = _later(Actions.focus)
    enter_text = _later(Actions.enter_text)
    read_text = _later(Actions.read_text)
    read_all_text = _later(Actions.read_all_text)
    read_value = _later(Actions.read_value)
    wait_for_node = _later(Actions.wait_for_node)
    wait_for_navigation = _later(Actions.wait_for_navigation)
    sleep = _later(Actions.sleep)
    open_app = _later(Actions.open_app)
    close_app = _later(Actions.close_app)
    open_uri = _later(Actions.open_uri)
    press_key = _later(Actions.press_key)
    back = _later(Actions.back)
    home = _later(Actions.home)
    recents = _later(Actions.recents)
    start_recording = _later(Actions.start_recording)
    stop_recording = _later(Actions.stop_recording)
    snapshot = _later(Actions.snapshot)
    scroll = _later(Actions.scroll)
    scroll_to_top = _later(Actions.scroll_to_top)
    scroll_until = _later(Actions.scroll_until)
    scroll_and_click = _later(Actions.scroll_and_click)

    def screenshot(self) -> BatchStep[bytes]:
        """Take a screenshot; what follows begins another execution."""
        return self._perform(plans.screenshot())

    def _perform(self, plan: Plan[T], timeout: float | None = None) -> BatchStep[T]:
        """Collect a plan, unless it cannot be sent: then nothing of the batch is."""
        if not self._is_open:
            raise ConfigurationError(
                f"{plan.verb} is outside the batch's block",
                hint="Write `with claw.batch() as b:` and call its methods inside.",
            )
        step = BatchStep(plan, timeout_of(timeout, self.timeout))
        _check(plan, step.seconds)
        self._steps.append(step)
        return step

    # Sending

    def _send(self) -> None:
        """Send the actions and give each step its result; raise if one failed."""
        performer = self._performer
        group = _Group()
        for place, step in enumerate(self._steps, 1):
            if group.actions and step.plan.route(strict=performer.strict).needs_snapshot:
                self._run(group)
                group = _Group()
            try:
                aim = performer.aim(step.plan, Countdown(step.seconds))
            except ClawperatorError as error:
                raise self._placed(error, step) from None
            if isinstance(aim, SeenValue):
                step._seen, step._step = aim, aim.step
                continue
            wait = Wait(step.seconds)
            name = f"{step.plan.action(aim, wait).type}-{place}"
            sending = performer.sending(step.plan, aim, wait, id=name)
            if not group.takes(sending):
                self._run(group)
                group = _Group()
            group.add(name, step, aim, sending)
        if group.actions:
            self._run(group)

    def _run(self, group: _Group) -> None:
        result = self._performer.run(group.actions, proofs=group.proofs)
        results = {step.id: step for step in (*result.recovered, *result.steps)}
        for name, step in group.steps.items():
            step._step, step._result = results.get(name), result
        for name, step in group.steps.items():
            if step.done and step.result.success and step.result.proof is not None:
                self._judge(step, group.aims[name], step.result.proof)
        if not result.ok:
            self._fail(group, result)

    def _judge(self, step: BatchStep[Any], aim: Aim, proof: RunStep) -> None:
        """Raise if a step that succeeded did not reach its one node."""
        performer, plan, result = self._performer, step.plan, step._result
        assert result is not None
        try:
            found = performer.judge(plan, aim, proof)
            if found is not None and found.obstacle.certain:
                raise hindered(plan, found, seconds=0.0, serial=performer.serial)
        except StepFailedError as error:
            error.message += _after(result, step.result)
            if error.code == ErrorCode.NODE_NOT_CLICKABLE:
                error.add_hint("A batch waits for nodes, but not for what is in their way.")
            raise self._placed(error, step) from None

    def _fail(self, group: _Group, result: RunResult) -> NoReturn:
        """Raise the error of the step that failed, with its place in the batch."""
        culprit = next((step.id for step in result.failed_steps), None)
        if culprit is None and result.stopped_at is not None:
            culprit = result.stopped_at.id
        step = None if culprit is None else group.steps.get(culprit)
        if step is None:
            raise _prefixed(error_of(result), f"one of {len(group.steps)} steps of the batch")
        # A batch waits for nodes, but not for what is in their way.
        was_there = error_of(result).code == ErrorCode.NODE_NOT_CLICKABLE
        error = self._performer.explain(step.plan, result, 0.0 if was_there else step.seconds)
        error.message += _after(result, step.result) if step.done else ""
        raise self._placed(error, step)

    def _placed(self, error: ClawperatorError, step: BatchStep[Any]) -> ClawperatorError:
        place = self._steps.index(step) + 1
        return _prefixed(error, f"step {place} of {len(self._steps)} of the batch")


@dataclass
class _Group:
    """Actions that fit into one execution; ``steps`` are those of the batch, by id."""

    steps: dict[str, BatchStep[Any]] = field(default_factory=dict)
    aims: dict[str, Aim] = field(default_factory=dict)
    actions: list[TypedAction] = field(default_factory=list)
    proofs: dict[str, str] = field(default_factory=dict)
    size: int = 0
    waiting_ms: float = 0.0

    def takes(self, sending: Sending) -> bool:
        """Whether actions may be added."""
        if not self.actions:
            return True
        is_late_close = sending.actions[0].type == "close_app" and any(
            other.type != "close_app" for other in self.actions
        )
        wire = [action.to_wire() for action in sending.actions]
        return (
            len(self.actions) + len(wire) <= limits.MAX_ACTIONS
            and self.size + sum(map(_size, wire)) <= _MOST_BYTES
            and self.waiting_ms + sum(map(waiting_ms, wire)) <= _MOST_WAITING_MS
            and not is_late_close
            and self.actions[-1].type != "take_screenshot"
        )

    def add(self, id: str, step: BatchStep[Any], aim: Aim, sending: Sending) -> None:
        """Add the actions of a step."""
        wire = [action.to_wire() for action in sending.actions]
        self.steps[id], self.aims[id] = step, aim
        self.actions += sending.actions
        self.proofs |= sending.proofs
        self.size += sum(map(_size, wire))
        self.waiting_ms += sum(map(waiting_ms, wire))


def _check(plan: Plan[Any], seconds: float) -> None:
    """Raise for an action that cannot be sent."""
    target = plan.target
    if target is not None and not plan.is_aimed and not target.is_plain:
        raise ConfigurationError(
            f"{plan.verb} in a batch needs a matcher that the device understands, not {target}",
            hint="Write the whole id, as in com.example:id/name, and no pattern; or scroll outside"
            " the batch.",
        )
    stand_in = NodeMatcher(text_equals="?")
    matcher = None if target is None else target.matcher or stand_in
    if matcher is not None and matcher.has_pattern:
        matcher = stand_in  # looked up when its turn comes
    action = plan.action(Aim(matcher), Wait(seconds))
    complete_actions([action])
    if waiting_ms(action.to_wire()) > _MOST_WAITING_MS:
        raise ConfigurationError(
            f"{plan} may wait {seconds:g} s, longer than one execution lasts",
            hint=f"In a batch the longest wait is {_MOST_WAITING_MS / 1000:g} s; outside a batch "
            "longer waits are split.",
        )


def _after(result: RunResult, failed: RunStep) -> str:
    """Describe how many steps followed the failed one, because some failures stop nothing."""
    ids = [step.id for step in result.steps]
    later = len(ids) - ids.index(failed.id) - 1 if failed.id in ids else 0
    if not later:
        return ""
    steps = "step" if later == 1 else f"{later} steps"
    return f"; the {steps} after it {'was' if later == 1 else 'were'} carried out all the same"


def _prefixed(error: ClawperatorError, where: str) -> ClawperatorError:
    error.message = f"{where}: {error.message}"
    error.args = (error.message,)
    return error


def _size(wire: dict[str, Any]) -> int:
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "backslashreplace")) + 1
