"""The clients of tests: which test uses which, and what each did in it.

A test uses a client that one of its fixtures returned, or that it executed something with.
Other clients are watched as well: the test may yet use them, and what they did in one test
must not be reported for the next.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakSet

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.target import keywords_of
from pytest_clawperator.contracts import events
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.crashes import AppWatch, Crash
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.result import RunResult, hide_passwords, typed_by
from pytest_clawperator.plugin import stash
from pytest_clawperator.redaction import SECRETS, hide
from pytest_clawperator.transport.interface import Transport

__tracebackhide__ = True  # a fixture that fails is shown at its own line
_OUR_FIXTURES = "pytest_clawperator.plugin.fixtures"
_KEPT_EXECUTIONS = 20
_LONGEST_LABEL = 60
# The log of so many executions is certainly kept.
_EXECUTIONS_PER_LOG = 100


class TimedAction(NamedTuple):
    """How long an execution took, and what it did."""

    seconds: float
    label: str


class Cut(NamedTuple):
    """A stretch of the log that does not belong to the test, and the line that replaces it."""

    start: int
    end: int
    line: bytes


def ignore(event: events.Event) -> None:
    """Ignore an event."""


@dataclass(eq=False)
class ClientActivity:
    """What a client did during the current test; between tests nothing is noted.

    ``on_use`` is called before each execution of the test, ``on_event`` with all that happens in
    it. ``fixtures`` are the names of those that returned the client and have not ended yet.
    """

    client: Clawperator
    on_use: Callable[[ClientActivity], None] = lambda _: None
    on_event: events.Observer = ignore
    fixtures: list[str] = field(default_factory=list)
    executions: deque[events.ExecutionFinished] = field(
        default_factory=lambda: deque(maxlen=_KEPT_EXECUTIONS)
    )
    skills: list[events.SkillFinished] = field(default_factory=list)
    timed: list[TimedAction] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    snapshot: bytes | None = None
    log_position: int = 0
    cuts: list[Cut] = field(default_factory=list)
    is_watched: bool = False
    # Threads that collect evidence: what they do is not the test's, and they may outlast it.
    collecting_threads: WeakSet[threading.Thread] = field(default_factory=WeakSet)
    video_refused: bool = False
    stop_observing: Callable[[], None] = lambda: None

    @property
    def apps(self) -> AppWatch:
        """Whether the app under test crashed."""
        return self.client.performer.apps

    @property
    def transport(self) -> Transport | None:
        """The transport to its device; None if the device is behind another host."""
        runner = self.client.runner
        return runner.transport if isinstance(runner, Pipeline) else None

    @property
    def system_processes(self) -> frozenset[int] | None:
        """The ids of system processes on its device; None if unknown."""
        runner = self.client.runner
        return runner.system_processes if isinstance(runner, Pipeline) else None

    def begin(self) -> Crash | None:
        """Begin a test: what happened before does not belong to it.

        Return the crash of the app of the test before, if that came when the test had ended.
        """
        self.end()
        self.log_position = self.log_end()
        self.is_watched = True
        return self.apps.begin()

    def end(self) -> None:
        """End the test, and forget what was done in it."""
        self.is_watched = False
        self.executions.clear()
        self.timed.clear()
        self.skills.clear()
        self.typed.clear()
        self.cuts.clear()
        self.snapshot = None

    @property
    def typed_secret(self) -> bool:
        """Whether the test typed a secret."""
        return any(map(SECRETS.is_in, self.typed))

    def hide_passwords(self) -> None:
        """Hide what was typed into password fields, also where the log showed it only later.

        The log of an execution goes on until the next one begins.
        """
        if not self.typed or self.transport is None:
            return
        log, end = self.transport.log, self.log_end()
        for event in reversed(self.executions):
            start = end if event.log_position is None else event.log_position
            result = event.result if isinstance(event.result, RunResult) else None
            hide_passwords(event.execution, result, log.read(start, end))
            end = start

    def take_log(self) -> tuple[list[bytes], int]:
        """Return the log of the test, and how many of its lines were lost.

        Lines are returned only once: a later call continues from there.
        """
        transport = self.transport
        if transport is None:
            return [], 0
        lines: list[bytes] = []
        lost, end = 0, self.log_end()
        for cut in [*self.cuts, Cut(end, end, b"")]:
            own = transport.log.read(self.log_position, cut.start)
            lost += cut.start - self.log_position - len(own)
            lines += [*own, cut.line] if cut.line else own
            self.log_position = cut.end
        self.cuts.clear()
        return lines, lost

    @contextmanager
    def going_back(self, why: str) -> Iterator[None]:
        """Leave out of the log what the device writes in the block, while it is being restored.

        Its log returns to an earlier state as well, which may belong to another test.
        """
        start = self.log_end()
        try:
            yield
        finally:
            self.snapshot = None
            self.cuts.append(Cut(start, self._marked_end(), f"--------- {why}".encode()))

    def _marked_end(self) -> int:
        """Return where the log continues, once its stream is live again."""
        try:
            return 0 if self.transport is None else self.transport.log.mark()
        except ClawperatorError:
            return self.log_end()

    def log_end(self) -> int:
        """Return how far the log was read, without waiting for a device that is gone."""
        transport = self.transport
        # The deadline is over, so this returns immediately.
        return 0 if transport is None else transport.log.wait(0, 0.0)

    def __call__(self, event: events.Event) -> None:
        """Record an event."""
        if not self.is_watched or threading.current_thread() in self.collecting_threads:
            return
        if isinstance(event, (events.ExecutionStarted, events.SkillStarted)):
            self.on_use(self)
        elif isinstance(event, events.SkillFinished):
            self.skills.append(event)
            self.timed.append(TimedAction(event.elapsed, f"skill {event.skill_id}"))
        elif isinstance(event, events.ExecutionFinished):
            self.executions.append(event)
            self.timed.append(TimedAction(event.elapsed, label_of(event.execution, event.proofs)))
            self.typed.update(one.text for one in typed_by(event.execution))
            if not len(self.timed) % _EXECUTIONS_PER_LOG:
                self.apps.read_log()
        elif isinstance(event, events.ArtifactMade) and event.kind == "snapshot":
            self.snapshot = event.data
        self.on_event(event)

    def stop_following(self) -> None:
        """Stop passing events on."""
        self.on_event = ignore


def label_of(execution: Execution, proofs: Container[str] = ()) -> str:
    """Describe an execution in a few words, without the snapshots that verify its actions."""
    words = [_described(action) for action in execution.actions if action.id not in proofs]
    label = hide("; ".join(words))
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 3]}..."


def _described(action: Action) -> str:
    """Return an action with its matcher as a test writes it, or with its first text."""
    params = action.params or ActionParams()
    matcher = params.matcher or params.label_matcher or params.expected_node
    if matcher is None:
        texts = (value for value in params.to_wire().values() if isinstance(value, str))
        text = next(filter(None, texts), None)
        return action.type if text is None else f"{action.type} {text!r}"
    words = dict(keywords_of(matcher))
    if isinstance(whole := words.get("id"), str):
        words["id"] = whole.rpartition(":id/")[2]  # the package is that of the app
    return f"{action.type} {', '.join(f'{word}={value!r}' for word, value in words.items())}"


@dataclass(frozen=True)
class ClientListeners:
    """What is called when a test begins to use a client, and when that changes.

    ``dropped``: the test does not use it after all; ``closing``: a client of several tests is
    about to be closed.
    """

    used: Callable[[pytest.Item, ClientActivity], None]
    dropped: Callable[[pytest.Item, ClientActivity], None]
    closing: Callable[[pytest.Item, ClientActivity], None]


def clients_of(item: pytest.Item) -> list[ClientActivity]:
    """Return the clients of a test, in the order in which it began to use them."""
    return item.stash.get(stash.USED_CLIENTS, [])


def begin_test(item: pytest.Item) -> None:
    """Begin a test, or another attempt at it."""
    item.stash[stash.USED_CLIENTS] = []
    for client in item.config.stash.get(stash.OPEN_CLIENTS, []):
        crash = client.begin()
        if crash is not None and stash.EVENTS in item.config.stash:
            message = f"{crash}, when the test before had ended"
            item.config.stash[stash.EVENTS].notice(client.client.serial, message)
    use_clients_of_fixtures(item)
    item.stash[stash.IS_BEING_SET_UP] = True


def end_setup(item: pytest.Item) -> None:
    """Note that the fixtures of a test have been set up."""
    del item.stash[stash.IS_BEING_SET_UP]


def end_test(item: pytest.Item) -> None:
    """End a test that has been reported, and forget its clients."""
    for client in [*item.config.stash.get(stash.OPEN_CLIENTS, []), *clients_of(item)]:
        client.end()
    if stash.USED_CLIENTS in item.stash:
        del item.stash[stash.USED_CLIENTS]


def use_clients_of_fixtures(item: pytest.Item) -> None:
    """Use the clients that the fixtures of a test returned, perhaps to an earlier test."""
    # Only the request knows the fixtures that a test gets by getfixturevalue.
    request = getattr(item, "_request", item)
    names = getattr(request, "fixturenames", ())
    for client in item.config.stash.get(stash.OPEN_CLIENTS, []):
        if not set(client.fixtures).isdisjoint(names):
            _use(item, client)


def client_given(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, client: Clawperator
) -> None:
    """Watch a client that a fixture returned, until the fixture ends."""
    activity = _activity_of(request.config, client)
    activity.fixtures.append(fixturedef.argname)
    # Ours is closed later, when there is still time for evidence.
    is_ours = fixturedef.func.__module__ == _OUR_FIXTURES
    is_shared = fixturedef.scope != "function" and not is_ours

    def clawperator_fixture_ends() -> None:  # a name that is not shown in Allure
        _fixture_ends(request.config, activity, fixturedef.argname, is_shared=is_shared)

    # Comes before the fixture's own end, which may close the client.
    request.addfinalizer(clawperator_fixture_ends)


def client_connected(
    config: pytest.Config, client: Clawperator, fixture: str
) -> Callable[[], None]:
    """Watch a client that a fixture connected later; call the result when it ends."""
    activity = _activity_of(config, client)
    activity.fixtures.append(fixture)
    return partial(_fixture_ends, config, activity, fixture, is_shared=False)


def _use(item: pytest.Item, client: ClientActivity) -> None:
    if client not in clients_of(item):
        item.stash.setdefault(stash.USED_CLIENTS, []).append(client)
        item.config.stash[stash.CLIENT_LISTENERS].used(item, client)


def _drop(item: pytest.Item, client: ClientActivity) -> None:
    if client in clients_of(item):
        clients_of(item).remove(client)
        item.config.stash[stash.CLIENT_LISTENERS].dropped(item, client)


def _use_now(config: pytest.Config, client: ClientActivity) -> None:
    if (item := config.stash.get(stash.CURRENT_TEST, None)) is not None:
        _use(item, client)


def _activity_of(config: pytest.Config, client: Clawperator) -> ClientActivity:
    """Return the activity of a client, which the current test uses from now on."""
    known = config.stash.setdefault(stash.OPEN_CLIENTS, [])
    activity = next((one for one in known if one.client is client), None)
    if activity is None:
        activity = ClientActivity(client, on_use=partial(_use_now, config))
        known.append(activity)
        activity.begin()
        activity.stop_observing = client.runner.observers.add(activity)
    _use_now(config, activity)
    return activity


def _fixture_ends(
    config: pytest.Config, client: ClientActivity, fixture: str, *, is_shared: bool
) -> None:
    client.fixtures.remove(fixture)
    if client.fixtures:
        return
    config.stash[stash.OPEN_CLIENTS].remove(client)
    client.stop_observing()
    item = config.stash.get(stash.CURRENT_TEST, None)
    if item is None:
        return
    if (
        stash.IS_BEING_SET_UP in item.stash
    ):  # the fixture was of earlier tests, with another parameter
        _drop(item, client)
    elif is_shared:
        config.stash[stash.CLIENT_LISTENERS].closing(item, client)


def close_later(config: pytest.Config, close: Callable[[], None]) -> None:
    """Close a client only when the current test is being reported: a failure may need evidence."""
    config.stash.setdefault(stash.TO_CLOSE, []).append(close)


def close_last(session: pytest.Session) -> None:
    """Close what an interrupted test used; if that fails, the test and the run have failed."""
    item = session.config.stash.get(stash.CURRENT_TEST, None)
    if not session.config.stash.get(stash.TO_CLOSE, None) or item is None:
        return
    call = pytest.CallInfo.from_call(lambda: close_all(session.config), when="teardown")
    if call.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def close_all(config: pytest.Config) -> None:
    """Close what is waiting to be closed, also after a run that was interrupted."""
    closing, config.stash[stash.TO_CLOSE] = config.stash.get(stash.TO_CLOSE, []), []
    with ExitStack() as all_of_them:
        for close in reversed(closing):
            all_of_them.callback(close)
