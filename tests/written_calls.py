"""Whether a call, as documents and hints write it, can be made: its names and arguments exist."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions, SnapshotAssertions
from pytest_clawperator.client.batch import Batch
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.matchers import KEYWORDS
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot

#: What the names in documents stand for.
SUBJECTS: Mapping[str, Any] = {
    "claw": Clawperator,
    "clawperator": Clawperator,
    "b": Batch,
    "snapshot": Snapshot,
    "node": Node,
    "expect": expect,
}
#: What methods and attributes return, where more is written after them.
RETURNED: Mapping[str, type] = {
    "all": Node,
    "batch": Batch,
    "bounds": Bounds,
    "device": Device,
    "execute": RunResult,
    "find": Node,
    "first": Locator,
    "info": DeviceInfo,
    "last": Locator,
    "node": Locator,
    "nth": Locator,
    "snapshot": Snapshot,
}
EXPECTED: Mapping[type, type] = {
    Clawperator: ScreenAssertions,
    Locator: LocatorAssertions,
    Node: LocatorAssertions,
    RunResult: EnvelopeAssertions,
    Snapshot: SnapshotAssertions,
}


def check_call(code: str, subjects: Mapping[str, Any] = SUBJECTS) -> None:
    """Raise ``AssertionError`` if a line of code uses names or keywords that are not there."""
    for part in ast.walk(ast.parse(code)):
        if isinstance(part, ast.Attribute):
            _member(part, subjects)
        elif isinstance(part, ast.Call):
            _check_arguments(part, subjects)


def _type_of(part: ast.expr, subjects: Mapping[str, Any]) -> Any:
    """Return the type of an expression; None if nothing is known about it."""
    if isinstance(part, ast.Subscript):
        return _type_of(part.value, subjects)
    if isinstance(part, ast.Name):
        return subjects.get(part.id)
    if isinstance(part, ast.Call):
        called = part.func
        if isinstance(called, ast.Name) and called.id == "expect":
            return EXPECTED[_type_of(part.args[0], subjects)]
        return _type_of(called, subjects)
    if isinstance(part, ast.Attribute):
        _member(part, subjects)
        return RETURNED.get(part.attr)
    return None


def _member(part: ast.Attribute, subjects: Mapping[str, Any]) -> Any:
    """Return the member that an attribute names; None for an attribute of instances."""
    owner = _type_of(part.value, subjects)
    if owner is None:
        return None
    kinds = owner.__mro__ if isinstance(owner, type) else ()
    annotated = {name for kind in kinds for name in vars(kind).get("__annotations__", {})}
    code = getattr(getattr(owner, "__init__", None), "__code__", None)
    known = annotated.union(code.co_names if code is not None else ())
    assert hasattr(owner, part.attr) or part.attr in known, f"{owner} has no {part.attr}"
    return getattr(owner, part.attr, None)


def _check_arguments(call: ast.Call, subjects: Mapping[str, Any]) -> None:
    if not isinstance(call.func, ast.Attribute) or any(_is_dots(each) for each in call.args):
        return
    member = _member(call.func, subjects)
    if member is None or not inspect.isfunction(member):
        return
    signature = inspect.signature(member)
    named = {each.arg: None for each in call.keywords if each.arg is not None}
    signature.bind(None, *call.args, **named)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        unknown = set(named) - set(signature.parameters) - set(KEYWORDS)
        assert not unknown, f"{call.func.attr}() has no {unknown}"


def _is_dots(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is ...
