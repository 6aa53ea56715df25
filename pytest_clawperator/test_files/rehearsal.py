"""Rehearse calls without a device: what Python would refuse in a run is a mistake in the file.

The rules are those of the methods themselves. Only values that are written in the file are
known: others, of variables, are left out, and a call that cannot do without one is not rehearsed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NoReturn, TypeVar, cast

from typing_extensions import override

from pytest_clawperator.assertions.expect import checks_of
from pytest_clawperator.assertions.expectation import Expectation, ExpectSettings
from pytest_clawperator.client import plans
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.perform import Performer
from pytest_clawperator.client.plans import Aim, Plan
from pytest_clawperator.client.target import Target, Use
from pytest_clawperator.client.timing import Wait
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.matchers import KEYWORDS, NodeMatcher
from pytest_clawperator.contracts.payload import complete_actions
from pytest_clawperator.errors import ClawperatorError, ConfigurationError, PayloadError
from pytest_clawperator.execution.pipeline import Observers, Runner
from pytest_clawperator.snapshot.tree import Node, Snapshot
from pytest_clawperator.test_files import syntax
from pytest_clawperator.test_files.verbs import Verb
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.yaml_source import Mark, Mistake

T = TypeVar("T")
# These read files that may not be there yet when a test file is collected.
_READ_FILES = ("to_match_tree", "not_to_match_tree", "to_match_screenshot",
               "not_to_match_screenshot")  # fmt: skip
_STAND_IN = "?"


class _Sent(BaseException):
    """The call has come as far as the device, so its arguments are fine."""


class _Unknown(Exception):
    """A value that is known only in a run."""


def rehearse(owner: Any, verb: Verb, call: ast.Call, mark: Mark) -> None:
    """Refuse a call with arguments that the method refuses.

    Without an owner, it is the locator that the call is made on.
    """
    if verb.name in _READ_FILES:
        return
    with _refusing(verb.name, mark):
        if owner is None:
            assert isinstance(call.func, ast.Attribute)
            owner = _value(call.func.value)
        args = [_value(one) for one in call.args]
        named = _known({str(one.arg): one.value for one in call.keywords}, verb)
        named.pop("secret", None)  # or the text would be hidden in runs without this test
        if args or named:
            getattr(owner, verb.name)(*args, **named)


def rehearse_setting(verb: Verb, value: ast.expr, mark: Mark) -> None:
    """Refuse a value that a setting of the device does not take."""
    with _refusing(verb.name, mark):
        setattr(client().device, verb.name, _value(value))


def expecting(subject: ast.expr, mark: Mark) -> Any:
    """Return what can be expected of a subject; refuse one of which nothing can be."""
    target: Any = None
    with _refusing("expect", mark):
        if isinstance(subject, ast.Name):
            target = client() if subject.id == syntax.CLIENT else _ENVELOPE
        else:
            target = _value(subject)
        return checks_of(target, _RehearsedExpectation(ExpectSettings()))


@contextmanager
def _refusing(what: str, mark: Mark) -> Iterator[None]:
    try:
        yield
    except (_Sent, _Unknown):
        pass
    except (ConfigurationError, PayloadError) as error:
        hint = f". {error.hint}" if error.hint else ""
        problem = f"{error.message}{hint}".replace("\n", "\n    ")
        raise Mistake(mark, f"`{what}` does not take this: {problem}") from error
    except ClawperatorError:
        pass  # a device might answer differently


# The values that are known


def _value(python: ast.expr) -> Any:
    """Return the value of an expression; raise if only a run knows it."""
    if isinstance(python, ast.Constant):
        return python.value
    if isinstance(python, (ast.List, ast.Tuple)):
        every = [_value(one) for one in python.elts]
        return every if isinstance(python, ast.List) else tuple(every)
    if isinstance(python, ast.Call) and isinstance(python.func, ast.Attribute):
        return _CALLS[python.func.attr](python.func.value, python)
    raise _Unknown


def _known(named: Mapping[str, ast.expr], verb: Verb | None = None) -> dict[str, Any]:
    """Return the arguments that are known; of those that describe a node, at least one."""
    known: dict[str, Any] = {}
    for name, python in named.items():
        try:
            known[name] = _value(python)
        except _Unknown:
            # Without it, the call would not be complete.
            if verb is not None and (name in verb.instead_of_node or verb.extra is not None):
                raise
    is_node = (verb is None or verb.takes_node) and bool(named.keys() & KEYWORDS.keys())
    if is_node and not known.keys() & KEYWORDS.keys():
        known["text"] = _STAND_IN
    return known


def _node(_: ast.expr, call: ast.Call) -> Locator:
    return client().node(**_known({str(one.arg): one.value for one in call.keywords}))


def _nth(of: ast.expr, call: ast.Call) -> Locator:
    try:
        return cast(Locator, _value(of)).nth(_value(call.args[0]))
    except _Unknown:
        return cast(Locator, _value(of))


def _pattern(_: ast.expr, call: ast.Call) -> re.Pattern[str]:
    return re.compile(_value(call.args[0]))


_CALLS: Mapping[str, Callable[[ast.expr, ast.Call], Any]] = {
    "node": _node,
    "nth": _nth,
    "compile": _pattern,
}


# A client and an expect that send nothing


_SCREEN = Snapshot.from_xml('<hierarchy><node bounds="[0,0][100,100]"/></hierarchy>')


class _RehearsedPerformer(Performer):
    """Makes the action of each plan, and does not send it; finds every node."""

    @override
    def perform(self, plan: Plan[T], seconds: float) -> T:
        aim, wait = Aim(NodeMatcher(text_equals=_STAND_IN)), Wait(0.0)
        actions = [plan.action(aim, wait)]
        if plan.search is not None:
            scroll = plans.scroll(plan.search.direction, None, **plan.search.gesture)
            actions.append(scroll.action(aim, wait))
        complete_actions(actions)
        raise _Sent

    @override
    def find(self, target: Target, seconds: float, *, verb: str, use: Use = Use.PLACE) -> Node:
        return _SCREEN.root


class _RehearsedClient(Clawperator):
    """Carries out nothing."""

    def __init__(self, runner: Runner, *, device: Device) -> None:
        super().__init__(runner, device=device, skills=_no_skills)
        self.performer = _RehearsedPerformer(runner)


class _Nothing:
    """Stands for what reaches a device."""

    serial = _STAND_IN
    observers = Observers(serial=_STAND_IN)

    def __getattr__(self, name: str) -> NoReturn:
        raise _Sent


def _no_skills() -> NoReturn:
    raise _Sent


@cache
def client() -> Clawperator:
    """Return a client without a device."""
    nothing = _Nothing()
    device = Device(cast(Transport, nothing), DeviceInfo(serial=_STAND_IN, key=_STAND_IN))
    return _RehearsedClient(cast(Runner, nothing), device=device)


class _RehearsedExpectation(Expectation):
    """Verifies nothing: a check has its arguments checked before."""

    @override
    def verify(self, *_: object, **__: object) -> None:
        pass


_ENVELOPE = ResultEnvelope.model_construct(
    None, command_id=_STAND_IN, task_id=_STAND_IN, status="success", steps=(), error=None
)
