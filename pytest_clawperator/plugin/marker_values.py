"""The values of markers, the errors for wrong ones, and the fixtures that markers bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clawperator.client import timing
from pytest_clawperator.client.device_commands import package_name, permission_name
from pytest_clawperator.client.perform import MATCHERS, Matchers
from pytest_clawperator.contracts.payload import Execution, complete_execution
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.devices import requirements
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ConfigurationError,
    ErrorCode,
    PayloadError,
    file_problem,
    is_file,
)
from pytest_clawperator.plugin.failures import beyond_xfail
from pytest_clawperator.plugin.markers import (
    ASK_FOR_DEVICE,
    markers_of,
    misspelt_marker,
    signature_of,
)
from pytest_clawperator.plugin.settings import is_validating
from pytest_clawperator.plugin.stash import MARKER_PROBLEMS
from pytest_clawperator.plugin.worker_input import is_worker

# What happens to a test whose app is not on the device.
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
    """Return the app of the test's closest marker."""
    return next(_values(item, "claw_app"), None)


def timeout_of(item: pytest.Item) -> float | None:
    """Return the timeout of the test's closest marker."""
    return next(_values(item, "claw_timeout"), None)


def matchers_of(item: pytest.Item) -> Matchers | None:
    """Return what the test's closest marker says about several matching nodes."""
    return next(_values(item, "claw_matchers"), None)


def payloads_of(item: pytest.Item) -> list[Path | Any]:
    """Return the payloads that the test declares: paths in full, or values."""
    return list(_values(item, "claw_payload"))


def marker_value(item: pytest.Item, mark: pytest.Mark) -> Any:
    """Return the value of a marker; raise a usage error if it makes no sense."""
    try:
        return READERS[mark.name](item, *mark.args, **mark.kwargs)
    except InvalidMarker as exc:
        raise marker_error(item, mark, str(exc)) from exc
    except ConfigurationError as exc:
        raise marker_error(item, mark, f"{exc.message}. {exc.hint}") from exc
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
    return requirements.requirements_of(given)


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
        raise InvalidMarker(f"missing={shown(missing)} is not a choice; allowed is {allowed}")
    if not isinstance(package, str):
        raise InvalidMarker(
            f"the package is a text such as 'com.example.shop', found {shown(package)}"
        )
    if not isinstance(grant, (list, tuple)):
        right = [grant] if isinstance(grant, str) else ["android.permission.CAMERA"]
        problem = f"grant={shown(grant)} is not a list of permissions; write grant={right}"
        raise InvalidMarker(problem)
    return AppUse(
        package=package_name(package),
        launch=launch,
        stop=stop,
        clear=clear,
        grant=tuple(permission_name(name) for name in grant),
        missing=missing,
    )


def _timeout(item: pytest.Item, seconds: Any, /) -> float:
    return timing.timeout_of(seconds, name="the value")


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


def load_payload(declared: Path | Any) -> Execution:
    """Return the execution of a payload file or value, as ``clawperator.execute`` would run it."""
    __tracebackhide__ = True
    if not isinstance(declared, Path):
        return complete_execution(declared)
    try:
        text = declared.read_bytes()
    except UNUSABLE_FILE as exc:
        raise PayloadError(
            f"the payload file {declared} cannot be read: {file_problem(exc)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="The path of a claw_payload marker starts from the folder of the test file.",
        ) from exc
    return complete_execution(text)


# Set up before all other fixtures of a test, so that a device that does not fit is reported first.
_DEVICE_CHECK = "_clawperator_requirements"
_SHOWN_PROBLEMS = 20


def apply_markers(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse markers that make no sense, and add the fixtures that markers bring."""
    refused: dict[int, str] = {}
    for item in items:
        marks = markers_of(item)
        if problems := dict(_problems(item, marks)):
            for mark, problem in problems.items():
                refused.setdefault(mark, problem)  # a marker of several tests is reported once
            item.stash[MARKER_PROBLEMS] = "\n".join(problems.values())
        else:
            _add_fixtures(item, {mark.name for mark in marks})
    if refused and not is_worker(config):
        raise pytest.UsageError(*_shortened(list(refused.values())))


def fail_for_markers(item: pytest.Item) -> None:
    """Fail a test whose markers make no sense, in a worker: a usage error would crash it."""
    if MARKER_PROBLEMS in item.stash:
        raise beyond_xfail(item.stash[MARKER_PROBLEMS])


def _add_fixtures(item: pytest.Item, names: set[str]) -> None:
    wanted = [_DEVICE_CHECK] if "claw_device" in names else []
    wanted += ["clawperator"] if names.intersection(ASK_FOR_DEVICE) else []
    fixtures = getattr(item, "fixturenames", None)
    if fixtures is not None:
        fixtures[:0] = [name for name in wanted if name not in fixtures]


def _problems(item: pytest.Item, marks: list[pytest.Mark]) -> Iterator[tuple[int, str]]:
    """Yield the problems of markers, by the identity of the marker."""
    for mark in marks:
        try:
            value = marker_value(item, mark)
            if mark.name == "claw_payload" and not is_validating(item.config):
                _check_payload(item, mark, value)
        except pytest.UsageError as exc:
            yield id(mark), str(exc)
    misspelt = misspelt_marker(item)
    if misspelt is not None:
        mark, meant = misspelt
        yield id(mark), str(marker_error(item, mark, f"no such marker; did you mean {meant}?"))


def _shortened(problems: list[str]) -> list[str]:
    rest = len(problems) - _SHOWN_PROBLEMS
    more = [f"... and {rest} more markers that make no sense"] if rest > 1 else []
    return [*problems[: _SHOWN_PROBLEMS if more else None], *more]


def _check_payload(item: pytest.Item, mark: pytest.Mark, payload: Path | Any) -> None:
    """Check a payload in the marker itself; a file is checked when it is used."""
    if isinstance(payload, Path):
        if not is_file(payload):
            state = "is a folder" if payload.is_dir() else "is not there"
            problem = f"the file {payload} {state}; a path starts from the folder of the test file"
            raise marker_error(item, mark, problem)
        return
    try:
        load_payload(payload)
    except PayloadError as exc:
        raise marker_error(item, mark, str(exc)) from exc
