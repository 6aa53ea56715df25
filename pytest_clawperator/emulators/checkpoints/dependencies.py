"""What a checkpoint depends on: the system image, the apps, and the function that builds it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.transport.shell import quote

# Since this API level, Android lists packages with their versions.
_LISTS_VERSIONS = 26
_PLAIN = (str, bytes, int, float, bool, type(None))
_PACKAGE = re.compile(r"package:(?:.*=)?([\w.]+)(?: versionCode:\d+)?\s*", re.ASCII)


def image_of(client: Clawperator) -> str:
    """Return the build of the system image."""
    return client.device.shell("getprop ro.build.fingerprint").stdout.strip()


def installed_apps(client: Clawperator, apps: Sequence[str]) -> Mapping[str, str]:
    """Return how apps are installed: version, and a path that each installation changes.

    Besides these it is the Operator; without any, it is all apps that did not come with Android.
    """
    info = client.device.info
    listing = "pm list packages -f"
    if info.api_level is None or info.api_level >= _LISTS_VERSIONS:
        listing += " --show-versioncode"
    named = {*apps, info.operator_package or ""} - {""}
    questions = [f"{listing} {quote(name)}" for name in sorted(named)]
    found = _lines(client.device.shell("; ".join(questions)).stdout) if named else {}
    wanted = {name: line for name, line in found.items() if name in named}
    return wanted if apps else {**wanted, **_lines(client.device.shell(f"{listing} -3").stdout)}


def _lines(listed: str) -> dict[str, str]:
    matches = map(_PACKAGE.fullmatch, sorted(listed.splitlines()))
    return {found[1]: found[0].strip() for found in matches if found}


def source_of(build: object) -> str:
    """Return what a function does: its source, and what it uses of its own module.

    That is other functions and plain values, also those that it was made with.
    """
    return _described(build, set())


def _described(value: Any, seen: set[int]) -> str:
    """Describe a value and all that it uses; ``seen`` is what was described before."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in seen:
        return "as before"
    seen.add(id(value))
    if isinstance(value, partial):
        return _all_described((value.func, value.args, value.keywords), seen)
    if isinstance(value, Mapping):
        return _all_described([one for pair in value.items() for one in pair], seen)
    if isinstance(value, (list, tuple)):
        return _all_described(value, seen)
    function = inspect.unwrap(getattr(value, "__func__", value))
    if isinstance(function, FunctionType):
        return _all_described(_used_by(function), seen) + _text_of(function)
    # An object is told by its class: what it holds may differ each time.
    return _text_of(function if isinstance(function, type) else type(function))


def _all_described(values: Iterable[object], seen: set[int]) -> str:
    return f"[{', '.join(_described(one, seen) for one in values)}]"


def _used_by(function: FunctionType) -> Sequence[object]:
    """Return the defaults of a function, and what it uses of the scopes around it."""
    around = inspect.getclosurevars(function)
    own = [
        one
        for one in around.globals.values()
        if isinstance(one, _PLAIN) or getattr(one, "__module__", None) == function.__module__
    ]
    return (function.__defaults__, function.__kwdefaults__, *around.nonlocals.values(), *own)


def _text_of(code: Any) -> str:
    """Return the source; where there is no file, as in a console, what it was compiled to."""
    try:
        return inspect.getsource(code)
    except (OSError, TypeError):
        compiled = getattr(code, "__code__", None)
        return _compiled(compiled) if compiled is not None else f"{code.__module__}.{code!r}"


def _compiled(code: CodeType) -> str:
    constants = [_compiled(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return repr((code.co_name, code.co_code, code.co_names, constants))
