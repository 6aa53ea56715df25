"""Tests that no device of the run fits: found before the first test, and told once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.input.marker_values import requirements_of
from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.leasing.fit.device_needs import DeviceNeeds, needs_of, unmet
from pytest_clawperator.plugin.leasing.held_devices import hold_alone
from pytest_clawperator.plugin.leasing.matrix import class_of, classes_of
from pytest_clawperator.plugin.leasing.replaced_fixtures import is_ladder_replaced
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL, UNFIT_TESTS
from pytest_clawperator.plugin.usage import is_listing
from pytest_clawperator.plugin.worker_input import CLASS_MEMBERS, is_worker, worker_input

_NAMED, _REASONS = 3, 3


@pytest.hookimpl(trylast=True)  # after the lines that name the devices
def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell of the tests that cannot run, where there are no workers."""
    config = session.config
    if is_worker(config) or is_listing(config) or settings_of(config).validate:
        return
    needs = {item.nodeid: found for item in session.items if (found := needs_of(item))}
    if not any(one.is_choosy for one in needs.values()):
        return
    if is_ladder_replaced(config, session.items):
        return
    try:
        devices = [one.info for one in hold_alone(config).held]
    except (ClawperatorError, pytest.UsageError):
        return  # the fixture raises it, for each test that it concerns
    tell_unfit(config, needs, devices)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: object) -> None:
    """Tell of the tests that cannot run, when the first worker has sent what its tests need."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # a WorkerController
    if UNFIT_TESTS not in config.stash and DEVICE_POOL in config.stash:
        devices = [one.info for one in config.stash[DEVICE_POOL].taken.values()]
        needs: dict[str, DeviceNeeds] = config.stash.get(DEVICE_NEEDS, {})
        tell_unfit(config, needs, devices)


def tell_unfit(
    config: pytest.Config, needs: Mapping[str, DeviceNeeds], devices: Sequence[DeviceInfo]
) -> None:
    """Show which tests no device fits and why, and keep it for the end of the run."""

    def is_in(label: str, info: DeviceInfo) -> bool:
        return any(one.label == label and one.holds(info) for one in classes_of(config))

    told = [
        f"no device of this run fits {len(tests)} test{'s' * (len(tests) > 1)} ({reason}):"
        f" {_named(tests)}"
        for reason, tests in unfit_tests(needs, devices, is_in=is_in).items()
    ]
    config.stash[UNFIT_TESTS] = told
    error = "ERROR: " if settings_of(config).strict else ""
    for text in told:
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


def runs_in_another_class(item: pytest.Item) -> bool:
    """Whether a matrix brings the test to a device of another class, which meets its markers."""
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

    A test that is multiplied by a matrix cannot run in classes that its markers exclude, and
    that is meant so.
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


def _named(tests: Sequence[str]) -> str:
    names = ", ".join(tests[:_NAMED])
    return f"{names} and {len(tests) - _NAMED} more" if len(tests) > _NAMED else names
