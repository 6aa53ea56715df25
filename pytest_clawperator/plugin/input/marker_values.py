"""The values of markers: what a test asks of its device, its app, its time and its payload."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clawperator.client.device.commands import package_name, permission_name
from pytest_clawperator.client.plan.proving import MATCHERS, Matchers
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.devices import requirements
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.plugin.input.settings import allowed_timeout, is_timeout
from pytest_clawperator.plugin.markers import signature_of

# What becomes of a test whose app is not on the device.
MISSING = ("error", "skip")
_LONGEST_MARK = 200

Missing = Literal["error", "skip"]


@dataclass(frozen=True, kw_only=True)
class AppUse:
    """What a ``claw_app`` marker asks for."""

    package: str
    launch: bool = True
    stop: bool = True
    clear: bool = False
    grant: tuple[str, ...] = ()
    missing: Missing = "error"


def requirements_of(item: pytest.Item) -> list[Requirements]:
    """Return what the test requires of its device, all of which must hold."""
    return list(_values(item, "claw_device"))


def app_of(item: pytest.Item) -> AppUse | None:
    """Return the app that the test is about, as its closest marker says."""
    return next(_values(item, "claw_app"), None)


def timeout_of(item: pytest.Item) -> float | None:
    """Return how long the test's actions look for a node, as its closest marker says."""
    return next(_values(item, "claw_timeout"), None)


def matchers_of(item: pytest.Item) -> Matchers | None:
    """Return what is so where several nodes fit, as the test's closest marker says."""
    return next(_values(item, "claw_matchers"), None)


def payloads_of(item: pytest.Item) -> list[Path | Any]:
    """Return the payloads that the test declares: paths in full, or values."""
    return list(_values(item, "claw_payload"))


def marker_value(item: pytest.Item, mark: pytest.Mark) -> Any:
    """Return the value of a marker; raise a usage error where it makes no sense."""
    try:
        return READERS[mark.name](item, *mark.args, **mark.kwargs)
    except InvalidMarker as exc:
        raise marker_error(item, mark, str(exc)) from exc
    except TypeError as exc:
        # Python's message is about a call that the user did not write.
        raise marker_error(item, mark, f"it is written {signature_of(mark.name)}") from exc


def marker_error(item: pytest.Item, mark: pytest.Mark, problem: str) -> pytest.UsageError:
    """Return the error that names the test, the marker and what is wrong with it."""
    given = [shown(value) for value in mark.args]
    given += [f"{name}={shown(value)}" for name, value in mark.kwargs.items()]
    written = ", ".join(given)
    if len(written) > _LONGEST_MARK:
        written = f"{written[:_LONGEST_MARK]}..."
    return pytest.UsageError(f"{item.nodeid}: {mark.name}({written}): {problem}")


def _values(item: pytest.Item, name: str) -> Iterator[Any]:
    for mark in item.iter_markers(name):
        yield marker_value(item, mark)


class InvalidMarker(ValueError):
    """What was found in a marker, and what is allowed."""


def _device(item: pytest.Item, /, **given: Any) -> Requirements:
    if not given:
        raise InvalidMarker(f"it requires nothing. Allowed: {requirements.ALLOWED}.")
    try:
        return requirements.requirements_of(given)
    except ConfigurationError as exc:
        raise InvalidMarker(f"{exc.message}. {exc.hint}") from exc


def _app(
    item: pytest.Item,
    package: Any,
    /,
    *,
    launch: bool = True,
    stop: bool = True,
    clear: bool = False,
    grant: Any = (),
    missing: Any = "error",
) -> AppUse:
    for name, value in {"launch": launch, "stop": stop, "clear": clear}.items():
        if not isinstance(value, bool):
            raise InvalidMarker(f"{name}={shown(value)} is neither True nor False")
    if missing not in MISSING:
        allowed = " or ".join(map(repr, MISSING))
        raise InvalidMarker(f"missing={shown(missing)} is no choice; allowed is {allowed}")
    if not isinstance(package, str):
        raise InvalidMarker(
            f"the package is a text such as 'com.example.shop', found {shown(package)}"
        )
    if not isinstance(grant, (list, tuple)):
        right = [grant] if isinstance(grant, str) else ["android.permission.CAMERA"]
        raise InvalidMarker(f"grant={shown(grant)} is no list of permissions; write grant={right}")
    try:
        package_name(package)
        permissions = tuple(permission_name(name) for name in grant)
    except ConfigurationError as exc:
        raise InvalidMarker(f"{exc.message}. {exc.hint}") from exc
    return AppUse(
        package=package,
        launch=launch,
        stop=stop,
        clear=clear,
        grant=permissions,
        missing=missing,
    )


def _timeout(item: pytest.Item, seconds: Any, /) -> float:
    if not is_timeout(seconds):
        raise InvalidMarker(f"found {shown(seconds)}, allowed is {allowed_timeout(seconds)}")
    return float(seconds)


def _matchers(item: pytest.Item, kind: Any, /) -> Any:
    if kind not in MATCHERS:
        raise InvalidMarker(f"found {shown(kind)}, allowed is {' or '.join(map(repr, MATCHERS))}")
    return kind


def _payload(item: pytest.Item, payload: Any, /) -> Path | Any:
    if isinstance(payload, (str, Path)):
        return item.path.parent / payload
    if isinstance(payload, (dict, list)):
        return payload
    raise InvalidMarker(f"a payload is a path, a dict or a list of actions, found {shown(payload)}")


#: How the arguments of a marker become its value.
READERS: Mapping[str, Callable[..., Any]] = {
    "claw_device": _device,
    "claw_app": _app,
    "claw_timeout": _timeout,
    "claw_matchers": _matchers,
    "claw_payload": _payload,
    "claw_skill": lambda item, skill, artifact, app="", intent="": skill,
}
