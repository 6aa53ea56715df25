"""Several actions in as few executions as possible."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar

from typing_extensions import Self, Unpack, override

from pytest_clawperator.client import judge, plans
from pytest_clawperator.client.actions import AppActions
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.perform import Performer, SeenValue, Sending
from pytest_clawperator.client.plans import Aim, Plan, ScrollOutcome
from pytest_clawperator.client.target import TargetLike, container_of, optional_target, target_of
from pytest_clawperator.client.timing import Countdown, Wait, timeout_of
from pytest_clawperator.contracts import foreign_names, limits
from pytest_clawperator.contracts.actions import Direction, TypedAction
from pytest_clawperator.contracts.envelope import failure
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords, NodeMatcher
from pytest_clawperator.contracts.payload import complete_actions, waiting_ms
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    StepFailedError,
)
from pytest_clawperator.execution.result import RunResult, RunStep, error_of
from pytest_clawperator.redaction import hide
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.text import visible_line

# What a payload holds besides its actions, generously.
_FRAME_BYTES = 1_000

MOST_BYTES = limits.MAX_PAYLOAD_BYTES - _FRAME_BYTES

MOST_WAITING_MS = limits.MAX_TIMEOUT_MS - limits.TIMEOUT_MARGIN_MS


T = TypeVar("T")


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
        """Whether there is a result, that of a failed step too."""
        return self._step is not None

    @property
    def result(self) -> RunStep:
        """The result of the step."""
        if self._step is None:
            raise ConfigurationError(
                f"{self.plan} has no result",
                hint="Results are there after the `with` block, "
                "and of a batch that failed only those of the steps before.",
            )
        return self._step

    @property
    def value(self) -> T:
        """What the method returns outside a batch; for a failed step its error is raised."""
        __tracebackhide__ = True
        if self._seen is not None:
            value: T = self._seen.value
            return value
        step, result = self.result, self._result
        assert result is not None
        if not step.success:
            raise step_error(step, result)
        return self.plan.value(step, result)

    def __repr__(self) -> str:
        return hide(f"<BatchStep {self.plan}: {self._step or 'not done'}>")


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
            and self.size + sum(map(_size, wire)) <= MOST_BYTES
            and self.waiting_ms + sum(map(waiting_ms, wire)) <= MOST_WAITING_MS
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


def check(plan: Plan[Any], seconds: float) -> None:
    """Raise for an action that cannot be sent, so that nothing is sent of a faulty batch."""
    __tracebackhide__ = True
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
    if waiting_ms(action.to_wire()) > MOST_WAITING_MS:
        raise ConfigurationError(
            f"{plan} may wait {seconds:g} s, longer than one execution lasts",
            hint=f"In a batch at most {MOST_WAITING_MS / 1000:g} s can be waited for; outside "
            "longer waits are split.",
        )


def send(performer: Performer, steps: list[BatchStep[Any]]) -> None:
    """Send the actions and give each step its result; raise if one failed."""
    __tracebackhide__ = True
    group = _Group()
    for place, step in enumerate(steps, 1):
        if group.actions and step.plan.route(strict=performer.strict).needs_look:
            _run(performer, group, steps)
            group = _Group()
        try:
            aim = performer.aim(step.plan, Countdown(step.seconds))
        except ClawperatorError as error:
            raise _placed(error, f"step {place} of {len(steps)} of the batch") from None
        if isinstance(aim, SeenValue):
            step._seen, step._step = aim, aim.step
            continue
        wait = Wait(step.seconds)
        name = f"{step.plan.action(aim, wait).type}-{place}"
        sending = performer.sending(step.plan, aim, wait, id=name)
        if not group.takes(sending):
            _run(performer, group, steps)
            group = _Group()
        group.add(name, step, aim, sending)
    if group.actions:
        _run(performer, group, steps)


def _run(performer: Performer, group: _Group, steps: list[BatchStep[Any]]) -> None:
    __tracebackhide__ = True
    result = performer.run(group.actions, proofs=group.proofs)
    told = {step.id: step for step in (*result.recovered, *result.steps)}
    for name, step in group.steps.items():
        step._step, step._result = told.get(name), result
    for name, step in group.steps.items():
        if step.done and step.result.success and step.result.look is not None:
            _judge(performer, step, group.aims[name], steps)
    if not result.ok:
        _fail(performer, group, steps, result)


def _judge(
    performer: Performer, step: BatchStep[Any], aim: Aim, steps: list[BatchStep[Any]]
) -> None:
    """Raise if a step that succeeded did not reach its one node."""
    __tracebackhide__ = True
    plan, result = step.plan, step._result
    assert result is not None
    try:
        found = performer.judge(plan, aim, step.result.look)
        if found is not None and found.obstacle.certain:
            raise judge.hindered(plan, found, seconds=0.0, serial=performer.serial)
    except StepFailedError as error:
        error.message += _after(result, step.result)
        if error.code == ErrorCode.NODE_NOT_CLICKABLE:
            error.add_hint("A batch waits for nodes, and not for what is in their way.")
        raise _placed(error, f"step {steps.index(step) + 1} of {len(steps)} of the batch") from None


def _fail(
    performer: Performer, group: _Group, steps: list[BatchStep[Any]], result: RunResult
) -> NoReturn:
    """Raise the error of the step that failed, with its place in the batch."""
    __tracebackhide__ = True
    culprit = next((step.id for step in result.failed_steps), None)
    if culprit is None and result.stopped_at is not None:
        culprit = result.stopped_at.id
    step = None if culprit is None else group.steps.get(culprit)
    if step is None:
        error = error_of(result)
        where = f"one of {len(group.steps)} steps of the batch"
    else:
        error = performer.explain(step.plan, result, step.seconds)
        place = steps.index(step)
        where = f"step {place + 1} of {len(steps)} of the batch"
        error.message += _after(result, step.result) if step.done else ""
    raise _placed(error, where)


def _after(result: RunResult, failed: RunStep) -> str:
    """Return in words how many steps came after the failed one: some failures stop nothing."""
    ids = [step.id for step in result.steps]
    later = len(ids) - ids.index(failed.id) - 1 if failed.id in ids else 0
    if not later:
        return ""
    steps = "step" if later == 1 else f"{later} steps"
    return f"; the {steps} after it {'was' if later == 1 else 'were'} carried out all the same"


def _placed(error: ClawperatorError, where: str) -> ClawperatorError:
    """Return the error with its place in the batch in the message."""
    error.message = f"{where}: {error.message}"
    error.args = (error.message,)
    return error


def step_error(step: RunStep, result: RunResult) -> ClawperatorError:
    """Return the error of one failed step of a batch."""
    error = failure(step.code or ErrorCode.EXECUTION_FAILED, envelope=result, step=step)
    error.serial = result.serial
    return error


def _size(wire: dict[str, Any]) -> int:
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "backslashreplace")) + 1


class Batch(
    AppActions[
        BatchStep[RunStep],
        BatchStep[str],
        BatchStep[list[str]],
        BatchStep[Snapshot],
        BatchStep[ScrollOutcome],
    ],
    HintsAtNames,
):
    """Collects actions in a ``with`` block and sends them at its end.

    The methods are those of the client and mean the same; each returns a step that has the
    ``result`` and the ``value`` after the block. If the block raises, nothing is sent. One
    execution holds up to 50 actions, 64,000 bytes and two minutes; a close_app and what
    follows a screenshot begin another, and so does a node that must be looked up on a
    snapshot.
    """

    _own_word = "b"
    _their_names = foreign_names.BATCH

    def __init__(self, performer: Performer, *, timeout: float, device: Device) -> None:
        self._performer = performer
        self._steps: list[BatchStep[Any]] = []
        self._is_open = False
        self._was_open = False
        self.device = device
        self.timeout = timeout

    def __enter__(self) -> Self:
        __tracebackhide__ = True
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
        __tracebackhide__ = True
        self._is_open = False
        if kind is None:
            send(self._performer, self._steps)

    def __repr__(self) -> str:
        return f"<Batch of {len(self._steps)} on {visible_line(self._performer.serial)}>"

    @override
    def _do(self, plan: Plan[T], timeout: float | None = None) -> BatchStep[T]:
        __tracebackhide__ = True
        if not self._is_open:
            raise ConfigurationError(
                f"{plan.verb} is outside the batch's block",
                hint="Write `with claw.batch() as b:` and call its methods inside.",
            )
        step = BatchStep(plan, timeout_of(timeout, self.timeout))
        check(plan, step.seconds)
        self._steps.append(step)
        return step

    def screenshot(self) -> BatchStep[bytes]:
        """Take a screenshot; what follows begins another execution."""
        __tracebackhide__ = True
        return self._do(plans.screenshot())

    def scroll_until(
        self,
        target: TargetLike | None = None,
        /,
        *,
        click: bool = False,
        direction: Direction = "down",
        max_scrolls: int = 20,
        max_duration: float | None = None,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[ScrollOutcome]:
        """Scroll until a node comes up, and with ``click`` tap it; without a node, to the end."""
        __tracebackhide__ = True
        plan = plans.scroll_until(
            optional_target(target, matcher, verb="scroll_until"),
            container_of(within, verb="scroll_until"),
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=max_duration,
            click=click,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)

    def scroll_and_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        direction: Direction = "down",
        max_scrolls: int = 10,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[ScrollOutcome]:
        """Scroll to a node and tap it."""
        __tracebackhide__ = True
        plan = plans.scroll_and_click(
            target_of(target, matcher, verb="scroll_and_click"),
            container_of(within, verb="scroll_and_click"),
            direction=direction,
            max_scrolls=max_scrolls,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)
