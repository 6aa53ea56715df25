"""What each test needs of a device, and what happens to tests that no device of the run fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import Demand
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.failures import beyond_xfail, mark_shared
from pytest_clawperator.plugin.leasing import exchange_devices, hold_alone, pool_of, spares_of
from pytest_clawperator.plugin.marker_values import requirements_of
from pytest_clawperator.plugin.matrix import class_of, is_in_class
from pytest_clawperator.plugin.run import events_of, named, write_line
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL, UNFIT_TESTS
from pytest_clawperator.plugin.usage import is_listing
from pytest_clawperator.plugin.worker_input import (
    CLASS_MEMBERS,
    OWN_CLASSES,
    is_worker,
    worker_input,
)
from pytest_clawperator.text import visible

# The fixtures that come with a device; settings, payloads and artifacts need none.
_WITH_DEVICE = frozenset(
    ["clawperator", "clawperator_devices"]
    + [f"clawperator_{rung}" for rung in ("lease", "transport", "client", "device")]
)


@dataclass(frozen=True)
class DeviceNeeds:
    """What a test that uses a device needs of it: its markers, and its class in a matrix."""

    requires: tuple[Requirements, ...] = ()
    device_class: str | None = None
    several: bool = False

    @property
    def is_choosy(self) -> bool:
        """Whether the test cannot run on just any device."""
        return bool(self.requires) or self.device_class is not None


def uses_device(item: pytest.Item) -> bool:
    """Whether the test asks for a device."""
    return not _WITH_DEVICE.isdisjoint(getattr(item, "fixturenames", ()))


def needs_of(item: pytest.Item) -> DeviceNeeds | None:
    """Return what the test needs; None if it uses no device."""
    if not uses_device(item):
        return None
    try:
        requires = tuple(requirements_of(item))
    except pytest.UsageError:
        requires = ()  # the test fails with that itself
    device_class = class_of(item)
    return DeviceNeeds(
        requires=requires,
        device_class=device_class.label if device_class else None,
        several="clawperator_devices" in getattr(item, "fixturenames", ()),
    )


def pack(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Write the needs of tests in plain values; most tests need the same."""
    distinct: dict[DeviceNeeds, int] = {}
    tests = {
        item.nodeid: distinct.setdefault(needs, len(distinct))
        for item in items
        if (needs := needs_of(item)) is not None
    }
    return {"distinct": [asdict(needs) for needs in distinct], "tests": tests}


def unpack(packed: Mapping[str, Any]) -> dict[str, DeviceNeeds]:
    """Read what ``pack`` wrote."""
    distinct = [
        DeviceNeeds(
            requires=tuple(Requirements(**one) for one in needs["requires"]),
            device_class=needs["device_class"],
            several=needs["several"],
        )
        for needs in packed["distinct"]
    ]
    return {test: distinct[number] for test, number in packed["tests"].items()}


def unmet(
    needs: DeviceNeeds, info: DeviceInfo, *, is_in: Callable[[str, DeviceInfo], bool]
) -> list[str]:
    """Return what a device lacks, one sentence each; ``is_in`` knows the classes of a matrix."""
    lacking = [text for requires in needs.requires for text in requires.unmet(info)]
    if needs.device_class is not None and not is_in(needs.device_class, info):
        lacking.append(f"the device is not {needs.device_class}")
    return lacking


_WHY = "--claw-strict; --claw-no-strict lets such tests be skipped"


def skip_or_fail(reason: str, *, strict: bool, device: object = None) -> None:
    """Skip the current test for this reason, or fail it if ``strict``.

    ``device`` is the one that does not fit.
    """
    __tracebackhide__ = True
    message = reason if device is None else f"{reason}: {device}"
    if not strict:
        pytest.skip(visible(message))
    error = beyond_xfail(f"{message} ({_WHY})")
    mark_shared(error, visible(reason))
    raise error


_REASONS = 3
_OUR_FIXTURES = "pytest_clawperator.plugin.fixtures"
_TO_DEVICE = ("clawperator_lease", "clawperator_transport", "clawperator_client")


@pytest.hookimpl(trylast=True)  # after the lines that name the devices
def pytest_collection_finish(session: pytest.Session) -> None:
    """Show the tests that cannot run, in a run without workers."""
    config = session.config
    if is_worker(config) or is_listing(config) or settings_of(config).validate:
        return
    needs = {item.nodeid: found for item in session.items if (found := needs_of(item))}
    if not any(one.is_choosy for one in needs.values()):
        return
    if is_ladder_replaced(config, session.items):
        return
    try:
        pool = hold_alone(config)
        spares_of(config)
        fit_devices(config, needs)
    except (ClawperatorError, pytest.UsageError):
        return  # the fixture raises it, for each test that it concerns
    show_unfit(config, needs, [one.info for one in (*pool.free, *pool.taken.values())])


def fit_devices(config: pytest.Config, needs: Mapping[str, DeviceNeeds]) -> list[str]:
    """Exchange devices that tests need less for those that they need; return a line for each.

    The devices were chosen before anybody knew the tests. What a conftest selects stays.
    """
    if len(config.hook.pytest_clawperator_select_device.get_hookimpls()) > 1:
        return []
    pool, is_in = pool_of(config), partial(is_in_class, config)
    demands = [
        Demand(
            keys=frozenset(
                one.info.key for one in pool.candidates if not unmet(each, one.info, is_in=is_in)
            ),
            weight=tests,
        )
        for each, tests in Counter(needs.values()).items()
        if each.is_choosy
    ]
    had = exchange_devices(config, demands)
    return [
        f"{worker_id} uses {pool.taken[worker_id].info} instead of {before.info}:"
        " the markers of tests need it"
        for worker_id, before in had.items()
    ]


def show_unfit_of_workers(config: pytest.Config) -> None:
    """Show the tests that cannot run, once a worker has sent what its tests need."""
    if UNFIT_TESTS not in config.stash and DEVICE_POOL in config.stash:
        devices = [one.info for one in config.stash[DEVICE_POOL].taken.values()]
        needs: dict[str, DeviceNeeds] = config.stash.get(DEVICE_NEEDS, {})
        show_unfit(config, needs, devices)


def show_unfit(
    config: pytest.Config, needs: Mapping[str, DeviceNeeds], devices: Sequence[DeviceInfo]
) -> None:
    """Show which tests no device fits and why, and keep it for the end of the run."""
    texts = [
        f"no device of this run fits {len(tests)} test{'s' * (len(tests) > 1)} ({reason}):"
        f" {named(tests)}"
        for reason, tests in unfit_tests(needs, devices, is_in=partial(is_in_class, config)).items()
    ]
    config.stash[UNFIT_TESTS] = texts
    error = "ERROR: " if settings_of(config).strict else ""
    for text in texts:
        events_of(config).show(f"{error}{text}")


def unfit_tests(
    needs: Mapping[str, DeviceNeeds],
    devices: Sequence[DeviceInfo],
    *,
    is_in: Callable[[str, DeviceInfo], bool],
) -> dict[str, list[str]]:
    """Return the tests that none of the devices fits, by the reason."""
    reasons = {one: _reason(one, devices, is_in) for one in set(needs.values())} if devices else {}
    found: dict[str, list[str]] = {}
    for test, wanted in needs.items():
        if reason := reasons.get(wanted):
            found.setdefault(reason, []).append(test)
    return found


def is_ladder_replaced(config: pytest.Config, items: Iterable[pytest.Item]) -> bool:
    """Whether a conftest or a test module replaces the fixtures that connect to a device."""
    places: set[object] = {*config.pluginmanager.get_plugins()}
    places.update(getattr(item, "module", None) for item in items)
    return any(
        hasattr(place, name)
        for place in places
        if getattr(place, "__name__", None) != _OUR_FIXTURES
        for name in _TO_DEVICE
    )


def skip_if_class_does_not_fit(item: pytest.Item) -> None:
    """Skip a test whose markers no device of its class meets, with the reason.

    It can come to any worker, whose device need not be of the class.
    """
    handed = worker_input(item.config)
    if not handed.get(CLASS_MEMBERS):
        return
    needs = needs_of(item)
    label = needs.device_class if needs else None
    if needs is None or label in handed.get(OWN_CLASSES, ()) or label not in handed[CLASS_MEMBERS]:
        return
    device = DeviceInfo(**handed[CLASS_MEMBERS][label])
    if unmet := [text for each in needs.requires for text in each.unmet(device)]:
        reason = f"claw_device: {'; '.join(unmet)}"
        if settings_of(item.config).strict and not runs_in_another_class(item):
            skip_or_fail(reason, strict=True, device=device)
        # pytest then names the test's line.
        item.add_marker(pytest.mark.skip(reason=f"{reason}: {device}"))


def runs_in_another_class(item: pytest.Item) -> bool:
    """Whether a matrix also runs the test on a device of another class that meets its markers."""
    if class_of(item) is None:
        return False
    config = item.config
    if is_worker(config):
        handed = worker_input(config).get(CLASS_MEMBERS, {}).values()
        devices = [DeviceInfo(**one) for one in handed]
    else:
        devices = [one.info for one in hold_alone(config).held]
    return _is_met(DeviceNeeds(requires=tuple(requirements_of(item))), devices)


def _reason(
    needs: DeviceNeeds,
    devices: Sequence[DeviceInfo],
    is_in: Callable[[str, DeviceInfo], bool],
) -> str:
    """Return why none of the devices fits; empty if one does, or another class has one that does.

    A test that a matrix multiplies cannot run in classes that its markers exclude, which is
    intended.
    """
    label = needs.device_class
    if label is not None and not any(is_in(label, info) for info in devices):
        return f"--claw-matrix: no device is {label}"
    if _is_met(needs, devices):
        return ""
    lacking = [text for info in devices for each in needs.requires for text in each.unmet(info)]
    return f"claw_device: {'; '.join(list(dict.fromkeys(lacking))[:_REASONS])}"


def _is_met(needs: DeviceNeeds, devices: Sequence[DeviceInfo]) -> bool:
    """Whether a device meets the markers, whatever its class."""
    return any(not unmet(needs, info, is_in=lambda *_: True) for info in devices)


_WHAT_TO_DO = "These tests were skipped; --claw-strict makes it an error, as it is where CI is set."


def write_unfit(terminalreporter: pytest.TerminalReporter) -> None:
    """List those that were skipped, also in a quiet run; those that failed are listed anyway."""
    config = terminalreporter.config
    texts = config.stash.get(UNFIT_TESTS, [])
    if texts and not settings_of(config).strict:
        terminalreporter.section("no device fits", bold=True, yellow=True)
        for text in texts:
            write_line(terminalreporter, text, bold=True, yellow=True)
        write_line(terminalreporter, _WHAT_TO_DO, yellow=True)
