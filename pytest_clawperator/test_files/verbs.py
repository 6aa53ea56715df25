"""The words of test files: methods of the client, its device, its nodes, and ``expect``.

Their names, parameters and types come from the methods themselves.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.test_files import shapes

#: Methods of the client that are not steps, and what test files have instead.
OTHERWISE: AbstractMapping[str, str] = {
    "node": "nodes are written where they are used",
    "execute": "`payload:`",
    "step": "`title:`",
    "batch": "`payload:`",
    "snapshot": "`expect:` takes its own snapshots",
    "pages": "`scroll_until:`",
    "close": "the fixture does it",
    "run_artifact": "`skill:`",
    "expecting_crash": "a list of steps",
}

#: What may stand in the place of a node: nothing at all is "".
INSTEAD_OF_NODE: AbstractMapping[str, tuple[str, ...]] = {
    "click": ("at",),
    "long_click": ("at",),
    "wait_for_navigation": ("package",),
    "read_value": ("label",),
    "scroll_until": ("",),
}

# Parameters that a value alone never stands for.
_BESIDES = ("timeout", "within")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method that a file can give."""

    name: str
    shape: shapes.Shape
    is_required: bool
    kind: Any


@dataclass(frozen=True)
class Verb:
    """A method that a file can use as a step or a check.

    With ``takes_node`` it is about a node, which ``instead_of_node`` may replace; with
    ``takes_within`` it has a separate parameter for the container of the node.
    """

    name: str
    summary: str
    example: str = ""
    parameters: AbstractMapping[str, Parameter] = field(default_factory=dict)
    extra: shapes.Shape | None = None
    takes_node: bool = False
    takes_within: bool = False
    instead_of_node: tuple[str, ...] = ()
    has_result: bool = False
    is_setting: bool = False

    @property
    def first(self) -> Parameter | None:
        """The parameter that a single value sets; None if the value is the node."""
        givable = [one for one in self.parameters.values() if one.name not in _BESIDES]
        required = any(one.is_required for one in givable)
        if self.takes_node and not (required or "label" in self.instead_of_node):
            return None
        return next(iter(givable), None)


@cache
def client_verbs() -> dict[str, Verb]:
    """Return the steps that are methods of the client."""
    methods = _methods(Clawperator)
    return {name: _verb(name, method) for name, method in methods if name not in OTHERWISE}


@cache
def node_verbs() -> dict[str, Verb]:
    """Return the steps that only locators have as methods."""
    verbs = client_verbs()
    own = [(name, method) for name, method in _methods(Locator) if name not in verbs]
    return {name: _verb(name, method, takes_node=True) for name, method in own if _is_done(method)}


@cache
def device_verbs() -> dict[str, Verb]:
    """Return the methods and settings of ``clawperator.device``."""
    verbs = {name: _verb(name, method) for name, method in _methods(Device) if _is_done(method)}
    for name, setting in inspect.getmembers(Device, lambda one: isinstance(one, property)):
        if setting.fset is not None:
            verbs[name] = _verb(name, setting.fset, summary=_summary(setting), is_setting=True)
    return verbs


@cache
def checks(subject: type[Any]) -> dict[str, Verb]:
    """Return what can be expected: of a node, a screen, or an envelope."""
    return {
        name: _verb(name, method)
        for name, method in _methods(subject)
        if name.startswith(("to_", "not_to_"))
    }


def node_checks() -> dict[str, Verb]:
    """Return what can be expected of a node."""
    return checks(LocatorAssertions)


def screen_checks() -> dict[str, Verb]:
    """Return what can be expected of the screen."""
    return checks(ScreenAssertions)


def envelope_checks() -> dict[str, Verb]:
    """Return what can be expected of the result of a payload or a skill."""
    return checks(EnvelopeAssertions)


def _methods(cls: type[Any]) -> list[tuple[str, Callable[..., Any]]]:
    found = inspect.getmembers(cls, inspect.isfunction)
    return [(name, method) for name, method in found if not name.startswith("_")]


def _is_done(method: Callable[..., Any]) -> bool:
    """Whether a method returns nothing."""
    return bool(inspect.signature(method).return_annotation == "None")


def _verb(
    name: str,
    method: Callable[..., Any],
    *,
    summary: str | None = None,
    takes_node: bool = False,
    is_setting: bool = False,
) -> Verb:
    hints = _parameter_hints(method)
    given = [one for one in inspect.signature(method).parameters.values() if one.name != "self"]
    has_target = any(one.name == "matcher" for one in given)
    extra = [one for one in given if one.kind is one.VAR_KEYWORD and one.name != "matcher"]
    parameters = [
        _parameter(name, one, hints[one.name])
        for one in given
        if one.name not in ("target", "matcher", "within") and one not in extra
    ]
    takes_within = any(one.name == "within" for one in given)
    if takes_within and not has_target:
        parameters.append(Parameter("within", shapes.Node(), False, inspect.Parameter.KEYWORD_ONLY))
    return Verb(
        name,
        summary or _summary(method),
        _example(method),
        {one.name: one for one in parameters},
        extra=shape_of(hints[extra[0].name]) if extra else None,
        takes_node=has_target or takes_node,
        takes_within=takes_within and has_target,
        instead_of_node=INSTEAD_OF_NODE.get(name, ()) if has_target else (),
        has_result=name.startswith("read_"),
        is_setting=is_setting,
    )


def _parameter_hints(method: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters; the return type may not resolve at run time."""
    written = {name: hint for name, hint in method.__annotations__.items() if name != "return"}
    names = inspect.unwrap(method).__globals__
    return get_type_hints(types.SimpleNamespace(__annotations__=written), names)


def _parameter(verb: str, parameter: inspect.Parameter, hint: Any) -> Parameter:
    shape = shape_of(hint)
    if parameter.name == "timeout":  # a script may run as long as it likes
        shape = shapes.Number(least=0) if verb == "run_skill" else shapes.SECONDS
    is_many = parameter.kind is parameter.VAR_POSITIONAL
    return Parameter(
        parameter.name,
        shapes.Listed(shape) if is_many else shape,
        parameter.default is parameter.empty,
        parameter.kind,
    )


def _summary(method: object) -> str:
    text = inspect.getdoc(method) or ""
    return text.partition("\n\n")[0].replace("\n", " ")


def _example(method: object) -> str:
    found = re.search(r"^``(claw\..*)``$", inspect.getdoc(method) or "", re.MULTILINE)
    return found[1] if found else ""


def shape_of(hint: Any) -> shapes.Shape:
    """Return the shape of the values that a type hint allows."""
    members = [one for one in _members(hint) if one not in _UNWRITABLE]
    found: list[shapes.Shape] = []
    is_text = any(one in (str, Path, ErrorCode) for one in members)
    if NodeMatcher in members:
        found.append(shapes.Node(takes_text=not is_text))
        members = [one for one in members if one in (str,) or get_origin(one) is not None]
        members = [one for one in members if get_origin(one) is not AbstractMapping]
    if is_text:
        found.append(shapes.Text())
        members = [one for one in members if one not in (str, Path, ErrorCode)]
    found += [_single(one) for one in members]
    return found[0] if len(found) == 1 else shapes.OneOf(tuple(found))


_UNWRITABLE = (type(None), bytes, types.EllipsisType)


def _members(hint: Any) -> Sequence[Any]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _single(hint: Any) -> shapes.Shape:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return shapes.Data()
    if hint is bool:
        return shapes.Truth()
    if hint in (int, float):
        return shapes.Number(whole=hint is int)
    if origin is Literal:
        return shapes.Choice(inner)
    if origin is tuple:
        return shapes.Point(shapes.Number(whole=int in inner))
    if origin is re.Pattern:
        return shapes.Pattern()
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return shapes.Listed(shape_of(inner[0]))
    raise TypeError(f"test files have no words for values of type {hint}")
