"""The markers: what a test asks of its device, its app, its time and its payload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_clawperator.plugin import bring_in
from pytest_clawperator.plugin.stash import NONSENSE, SETTINGS

if TYPE_CHECKING:
    from pytest_clawperator.devices.requirements import Requirements

MARKERS = (
    'claw_device(api=">=33", abi=None, form=None, emulator=None, model=None, manufacturer=None):'
    " the device that the test requires; on another it is skipped, or fails with --claw-strict.",
    "claw_app(package, launch=True, stop=True, clear=False, grant=[]): the app that the test is"
    " about: started before the test, and stopped before and after it.",
    "claw_timeout(seconds): how long actions and expectations of the test look for a node.",
    "claw_payload(path_or_dict): a payload of the test, which --claw-validate checks; a path"
    " starts from the folder of the test file.",
)
_ASK_FOR_DEVICE = ("claw_device", "claw_app")
# Comes before every other fixture of a test, so that a device that does not fit is told first.
_GUARD = "_clawperator_requirements"
_SHOWN_PROBLEMS = 20
_LONGEST_MARK = 200


class AppUse(NamedTuple):
    """What a ``claw_app`` marker asks for."""

    package: str
    launch: bool = True
    stop: bool = True
    clear: bool = False
    grant: tuple[str, ...] = ()


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, so that ``--strict-markers`` takes them."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse markers that make no sense, and give tests that ask for a device its fixtures."""
    is_used = False
    refused: dict[int, str] = {}
    for item in items:
        marks = [mark for mark in item.iter_markers() if mark.name in _READERS]
        if problems := dict(_problems(item, marks)):
            for mark, problem in problems.items():
                refused.setdefault(mark, problem)  # tests that share a marker tell of it once
            item.stash[NONSENSE] = "\n".join(problems.values())
            continue
        names = {mark.name for mark in marks}
        wanted = [_GUARD] if "claw_device" in names else []
        wanted += ["clawperator"] if names.intersection(_ASK_FOR_DEVICE) else []
        fixtures = getattr(item, "fixturenames", None)
        if fixtures is not None:
            fixtures[:0] = [name for name in wanted if name not in fixtures]
            is_used = is_used or any(name.startswith("clawperator") for name in fixtures)
    if refused and not hasattr(config, "workerinput"):
        raise pytest.UsageError(*_shortened(list(refused.values())))
    if is_used:
        bring_in(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose markers make no sense, in a worker: there, refusing is crashing."""
    if NONSENSE in item.stash:
        pytest.fail(item.stash[NONSENSE], pytrace=False)


def requirements_of(item: pytest.Item) -> list[Requirements]:
    """Give what the test requires of its device, all of which must hold."""
    return list(_read(item, "claw_device"))


def app_of(item: pytest.Item) -> AppUse | None:
    """Give the app that the test is about, as its closest marker says."""
    return next(_read(item, "claw_app"), None)


def timeout_of(item: pytest.Item) -> float | None:
    """Give how long the test's actions look for a node, as its closest marker says."""
    return next(_read(item, "claw_timeout"), None)


def payloads_of(item: pytest.Item) -> list[Path | Any]:
    """Give the payloads that the test declares: paths in full, or values."""
    return list(_read(item, "claw_payload"))


def _problems(item: pytest.Item, marks: list[pytest.Mark]) -> Iterator[tuple[int, str]]:
    """Give what is wrong with markers, by the identity of the marker."""
    for mark in marks:
        try:
            value = _understood(item, mark)
            if mark.name == "claw_payload" and not _validates(item.config):
                _check_payload(item, mark, value)
        except pytest.UsageError as exc:
            yield id(mark), str(exc)


def _shortened(problems: list[str]) -> list[str]:
    rest = len(problems) - _SHOWN_PROBLEMS
    more = [f"... and {rest} more markers that make no sense"] if rest > 1 else []
    return [*problems[: _SHOWN_PROBLEMS if more else None], *more]


def _read(item: pytest.Item, name: str) -> Iterator[Any]:
    for mark in item.iter_markers(name):
        yield _understood(item, mark)


def _understood(item: pytest.Item, mark: pytest.Mark) -> Any:
    try:
        return _READERS[mark.name](item, *mark.args, **mark.kwargs)
    except _Nonsense as exc:
        raise _usage(item, mark, str(exc)) from exc
    except TypeError as exc:
        # Words of Python about a call that the user did not write would not help.
        raise _usage(item, mark, f"it is written {_signature(mark.name)}") from exc


def _check_payload(item: pytest.Item, mark: pytest.Mark, payload: Path | Any) -> None:
    """Judge what is written in the marker; what is in a file is judged where it is used."""
    if isinstance(payload, Path):
        if not payload.is_file():
            told = "is a folder" if payload.is_dir() else "is not there"
            problem = f"the file {payload} {told}; a path starts from the folder of the test file"
            raise _usage(item, mark, problem)
        return
    from pytest_clawperator.errors import PayloadError
    from pytest_clawperator.plugin.features.payloads import load_payload

    try:
        load_payload(payload)
    except PayloadError as exc:
        raise _usage(item, mark, str(exc)) from exc


def _validates(config: pytest.Config) -> bool:
    """Tell whether payloads are the tests of this run, and wrong ones its failures."""
    settings = config.stash.get(SETTINGS, None)
    return settings is not None and settings.validate


class _Nonsense(ValueError):
    """Says what was found in a marker, and what is allowed."""


def _device(item: pytest.Item, /, **given: Any) -> Requirements:
    from pytest_clawperator.devices import requirements
    from pytest_clawperator.errors import ConfigurationError

    if not given:
        raise _Nonsense(f"it requires nothing. Allowed: {requirements.ALLOWED}.")
    try:
        return requirements.requirements_of(given)
    except ConfigurationError as exc:
        raise _Nonsense(f"{exc.message}. {exc.hint}") from exc


def _app(
    item: pytest.Item,
    package: Any,
    /,
    *,
    launch: bool = True,
    stop: bool = True,
    clear: bool = False,
    grant: Any = (),
) -> AppUse:
    from pytest_clawperator.client.device.commands import package_name, permission_name
    from pytest_clawperator.errors import ConfigurationError

    for name, value in {"launch": launch, "stop": stop, "clear": clear}.items():
        if not isinstance(value, bool):
            raise _Nonsense(f"{name}={value!r} is neither True nor False")
    if not isinstance(package, str):
        raise _Nonsense(f"the package is a text such as 'com.example.shop', found {package!r}")
    if not isinstance(grant, (list, tuple)):
        right = [grant] if isinstance(grant, str) else ["android.permission.CAMERA"]
        raise _Nonsense(f"grant={grant!r} is no list of permissions; write grant={right}")
    try:
        package_name(package)
        permissions = tuple(permission_name(name) for name in grant)
    except ConfigurationError as exc:
        raise _Nonsense(f"{exc.message}. {exc.hint}") from exc
    return AppUse(package=package, launch=launch, stop=stop, clear=clear, grant=permissions)


def _timeout(item: pytest.Item, seconds: Any, /) -> float:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds < math.inf:
        raise _Nonsense(f"found {seconds!r}, allowed is a number of seconds from 0 on, as in 2.5")
    return float(seconds)


def _payload(item: pytest.Item, payload: Any, /) -> Path | Any:
    if isinstance(payload, (str, Path)):
        return item.path.parent / payload
    if isinstance(payload, (dict, list)):
        return payload
    raise _Nonsense(f"a payload is a path, a dict or a list of actions, found {payload!r}")


_READERS: Mapping[str, Callable[..., Any]] = {
    "claw_device": _device,
    "claw_app": _app,
    "claw_timeout": _timeout,
    "claw_payload": _payload,
}


def _signature(name: str) -> str:
    line = next(line for line in MARKERS if line.startswith(f"{name}("))
    return line[: line.index("):") + 1]


def _usage(item: pytest.Item, mark: pytest.Mark, problem: str) -> pytest.UsageError:
    given = [repr(value) for value in mark.args]
    given += [f"{name}={value!r}" for name, value in mark.kwargs.items()]
    shown = ", ".join(given)
    if len(shown) > _LONGEST_MARK:
        shown = f"{shown[:_LONGEST_MARK]}..."
    return pytest.UsageError(f"{item.nodeid}: {mark.name}({shown}): {problem}")
