"""The devices that a run leases, so that no other run has them, and the one of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import emulator_key
from pytest_clawperator.devices.lease import Hold, LeaseStore, Permit, await_store
from pytest_clawperator.devices.pool import (
    Candidate,
    Demand,
    DevicePool,
    Lease,
    Spares,
    demands_of,
)
from pytest_clawperator.devices.requirements import DeviceClass, Requirements
from pytest_clawperator.errors import ClawperatorError, NoDeviceError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.plugin import stash
from pytest_clawperator.plugin.matrix import why_class_is_empty
from pytest_clawperator.plugin.run import call_hook, events_of, run_id, wrong_result
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.usage import is_listing
from pytest_clawperator.plugin.worker_input import (
    EMPTY_CLASSES,
    LEASE,
    OWN_CLASSES,
    WHY_NO_LEASE,
    is_worker,
    worker_input,
)
from pytest_clawperator.remote.leases import open_all_leases
from pytest_clawperator.transport.wire import AdbServer


class ReservedLeases:
    """The leases of a run; a reserved one can be taken without releasing it first.

    An emulator is reserved under the serial that it is about to have. So a run that uses whatever
    is connected does not take it, neither while it boots nor while it ends.
    """

    def __init__(self, store: LeaseStore) -> None:
        self._store = store
        self._reserved: dict[str, Hold] = {}
        self._turn = threading.Lock()

    def reserve(self, key: str) -> Callable[[], None] | None:
        """Reserve a device; return a function that releases it, or None if it is taken.

        After ``try_take`` that function no longer has an effect.
        """
        hold = self._store.try_take(key)
        if hold is None:
            return None
        with self._turn:
            self._reserved[key] = hold
        return partial(self._release, hold)

    def try_take(self, key: str) -> Hold | None:
        """Lease the device; return None if it is taken."""
        with self._turn:
            reserved = self._reserved.pop(key, None)
        return reserved or self._store.try_take(key)

    def holder(self, key: str) -> Holder | None:
        """Return the holder of the device, if any; a device reserved here counts as free."""
        return None if key in self._reserved else self._store.holder(key)

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; return False if the holder does not have it."""
        return self._store.evict(key, holder)

    def borrow(self, ticket: str) -> Permit:
        """Return the permit to use a device that another process of the run has leased."""
        return self._store.borrow(ticket)

    def close(self) -> None:
        """Release the reserved devices that were not taken, and close the store."""
        for hold in tuple(self._reserved.values()):
            self._release(hold)
        self._store.close()

    def _release(self, hold: Hold) -> None:
        with self._turn:
            if self._reserved.get(hold.key) is not hold:
                return  # it was taken or released before
            del self._reserved[hold.key]
        Flight(hold.key).close()  # its last user may have been killed
        hold.release()


def leases_of(config: pytest.Config) -> ReservedLeases:
    """Return the leases of the run, opened once and closed with it."""
    if stash.LEASES not in config.stash:
        store = open_all_leases(
            settings_of(config).lease, run_id=run_id(config), notify=events_of(config).show
        )
        config.stash[stash.LEASES] = ReservedLeases(store)
        config.add_cleanup(config.stash[stash.LEASES].close)
    return config.stash[stash.LEASES]


def reserve_emulator(
    config: pytest.Config, server: AdbServer, serial: str
) -> Callable[[], None] | None:
    """Reserve an emulator; return a function that releases it, or None if it is taken."""
    return leases_of(config).reserve(emulator_key(serial, server))


# The worker id in a run without workers.
ALONE = "main"


def is_wished(config: pytest.Config) -> bool:
    """Whether the options choose devices."""
    settings = settings_of(config)
    return bool(settings.device or settings.matrix or settings.require or settings.spare_devices)


def pool_of(config: pytest.Config) -> DevicePool:
    """Return the devices of this run, which are listed once; none is held yet."""
    if stash.DEVICE_POOL not in config.stash:
        store = leases_of(config)
        # Emulators that are started below end before their leases do.
        config.add_cleanup(partial(_close_pool, config))
        found = _fitting(config)
        show, wait = events_of(config).show, settings_of(config).lease_timeout
        config.stash[stash.DEVICE_POOL] = DevicePool(
            found, store=store, select=partial(_select, config)
        )
        if wait and found:
            await_store(store, found[0].info.key, wait=wait, notify=show)
    return config.stash[stash.DEVICE_POOL]


def _close_pool(config: pytest.Config) -> None:
    """Release the devices of this run, if there are any."""
    pool = config.stash.get(stash.DEVICE_POOL, None)
    if pool is not None:
        pool.close()


def take_alone(config: pytest.Config, device_class: DeviceClass | None) -> Lease:
    """Take a device in a run without workers; with a matrix, one of this class."""
    pool = hold_alone(config)
    spares_of(config)
    pool.give_back(ALONE)
    if device_class is None:
        return pool.take(ALONE)
    config.stash[stash.CLASS_TO_SELECT] = device_class
    try:
        return pool.take(ALONE, fits=device_class.holds)
    finally:
        del config.stash[stash.CLASS_TO_SELECT]


def _select(config: pytest.Config, free: Sequence[Candidate], worker_id: str) -> Candidate | None:
    """Call the hook that chooses a device that meets the requirements."""
    chosen: Candidate | None = call_hook(
        config.hook.pytest_clawperator_select_device,
        candidates=free,
        requirements=_combined(
            settings_of(config).require, config.stash.get(stash.CLASS_TO_SELECT, None)
        ),
        worker_id=worker_id,
    )
    return chosen


def _combined(require: Requirements | None, device_class: DeviceClass | None) -> Requirements:
    """Return what both ``--claw-require`` and a class of a matrix ask of a device."""
    if require is None or device_class is None:
        return require or (device_class.requires if device_class else Requirements())
    of_class = {
        name: value for name, value in vars(device_class.requires).items() if value is not None
    }
    levels = [str(one.api) for one in (require, device_class.requires) if one.api is not None]
    return replace(require, **{**of_class, "api": ",".join(levels) or None})


def hold_alone(config: pytest.Config) -> DevicePool:
    """Hold what a single process needs: one device, or one of each class, and the spare ones."""
    pool = pool_of(config)
    if pool.held:
        return pool
    if _is_each(config):
        _hold_free(config, pool.candidates)
    else:
        _hold(config, _groups(config, pool) or [pool.chosen_first(ALONE)])
    return pool


def hold_for_workers(config: pytest.Config, workers: int) -> DevicePool:
    """Hold a device for each worker, and the spare ones.

    If no option chooses devices, hold those that are free: workers without one run the tests that
    need none.
    """
    pool, spare = pool_of(config), settings_of(config).spare_devices
    groups: Sequence[Sequence[Candidate]] = ()
    if _is_each(config) or not is_wished(config):
        if not pool.held:
            _hold_free(config, pool.candidates)
        classes = len(pool.held) - spare if _is_each(config) else 0
    else:
        groups = _groups(config, pool)
        if pool.held:  # by -n auto, which takes what is free
            groups = [each for each in groups if set(each).intersection(pool.held)]
        classes = len(groups)
        if not pool.held and classes <= workers:
            usable = _usable(pool, _wanted_classes(config))
            # Workers whose emulators failed to start run the tests that need no device.
            others = workers - classes - config.stash.get(stash.MISSING_EMULATORS, 0)
            _hold(config, [*groups, *[usable] * others])
    if classes > workers:
        raise too_few_workers(classes, workers, spare=spare, per=_per(config))
    pool.keep(workers + spare, groups=groups)
    return pool


def hold_all(config: pytest.Config) -> int:
    """Hold every device that is free now, and return how many workers that makes."""
    pool, settings = pool_of(config), settings_of(config)
    _hold_free(config, _usable(pool, _wanted_classes(config)))
    missing = [
        group
        for group in _members(pool, _wanted_classes(config))
        if not set(group).intersection(pool.held)
    ]
    if missing and settings.lease_timeout:
        pool.hold_each(missing, wait=settings.lease_timeout, notify=events_of(config).show)
    return len(pool.held) - settings.spare_devices


def find_classes(config: pytest.Config) -> tuple[DeviceClass, ...]:
    """Find the classes of ``--claw-matrix``; if each device is a class, hold the devices."""
    if stash.DEVICE_CLASSES not in config.stash:
        matrix, devices = settings_of(config).matrix, []
        if matrix is None or settings_of(config).validate:
            return ()
        if _is_each(config) and is_listing(config) and not config.option.collectonly:
            return ()  # devices only show in the ids of tests, which are not listed
        if _is_each(config):
            devices = [one.info for one in _each(config)]
        config.stash[stash.DEVICE_CLASSES] = matrix.classes(devices)
    return config.stash[stash.DEVICE_CLASSES]


def _each(config: pytest.Config) -> Sequence[Candidate]:
    """Return the devices for a matrix of single devices: all that workers can have."""
    if config.option.collectonly:
        return pool_of(config).candidates
    pool = hold_alone(config)
    spares_of(config)
    return [*pool.free, *pool.taken.values()]


def _is_each(config: pytest.Config) -> bool:
    matrix = settings_of(config).matrix
    return matrix is not None and matrix.wanted is None


def _wanted_classes(config: pytest.Config) -> Sequence[DeviceClass]:
    matrix = settings_of(config).matrix
    return matrix.wanted or () if matrix is not None else ()


def spares_of(config: pytest.Config) -> Spares:
    """Return the spare devices, once the devices of the run are held."""
    if stash.SPARE_DEVICES not in config.stash:
        pool = pool_of(config)
        groups = _groups(config, pool)
        reserved = pool.reserve(settings_of(config).spare_devices, groups=groups)
        config.stash[stash.SPARE_DEVICES] = Spares([pool.lease_of(one) for one in reserved])
    return config.stash[stash.SPARE_DEVICES]


def exchange_devices(config: pytest.Config, demands: Sequence[Demand]) -> dict[str, Candidate]:
    """Give the tests the devices that meet most demands, and keep others as the spare ones.

    Return the workers whose device has changed, with the device that each had.
    """
    pool = pool_of(config)
    had = pool.exchange([*demands_of(_groups(config, pool)), *demands])
    config.stash[stash.SPARE_DEVICES] = Spares([pool.lease_of(one) for one in pool.reserved])
    return had


def _fitting(config: pytest.Config) -> list[Candidate]:
    """List the devices that meet ``--claw-require``."""
    found = _listed(config)
    requires = settings_of(config).require
    lacking = {one.serial: requires.unmet(one.info) for one in found} if requires else {}
    fitting = [one for one in found if not lacking.get(one.serial)]
    if found and not fitting:
        reasons = "; ".join(f"{serial}: {', '.join(unmet)}" for serial, unmet in lacking.items())
        raise NoDeviceError(
            f"no device meets --claw-require: {reasons}",
            hint="Connect one that does, or ask for less.",
            details={"devices": list(lacking)},
        )
    return fitting


def _listed(config: pytest.Config) -> list[Candidate]:
    """List the devices that the hook returns."""
    hook = config.hook.pytest_clawperator_list_devices
    result = call_hook(hook, config=config)
    found = list(result) if isinstance(result, Iterable) else [result]
    if found and not all(isinstance(one, Candidate) for one in found):
        raise wrong_result(hook.name, result, f"a list of {Candidate.__module__}.Candidate")
    return found


def _hold(config: pytest.Config, groups: Iterable[Sequence[Candidate]]) -> None:
    """Hold one device of each group and the spare ones, all or none."""
    settings, pool = settings_of(config), pool_of(config)
    spare = settings.spare_devices
    wanted = [*groups, *[pool.candidates] * spare]
    pool.hold_each(wanted, spare=spare, wait=settings.lease_timeout, notify=events_of(config).show)


def _hold_free(config: pytest.Config, candidates: Sequence[Candidate]) -> None:
    """Hold the free ones, and show who holds the others; wait only if too few are free."""
    pool = pool_of(config)
    others = pool.hold_free(candidates)
    if len(pool.held) <= settings_of(config).spare_devices:
        pool.keep(0)
        _hold(config, [candidates])
        return
    for text in others:
        events_of(config).show(f"{text}, and left out")


def _per(config: pytest.Config) -> int:
    matrix = settings_of(config).matrix
    return matrix.per if matrix is not None else 1


def _groups(config: pytest.Config, pool: DevicePool) -> list[Sequence[Candidate]]:
    """Return the devices of each class, repeated for each device that the class should have."""
    members = _members(pool, _wanted_classes(config))
    return [group for group in members for _ in range(min(_per(config), len(group)))]


def _members(pool: DevicePool, classes: Iterable[DeviceClass]) -> list[Sequence[Candidate]]:
    """Return the devices of each class that has any."""
    groups = [[one for one in pool.candidates if each.holds(one.info)] for each in classes]
    return [group for group in groups if group]


def _usable(pool: DevicePool, classes: Sequence[DeviceClass]) -> Sequence[Candidate]:
    """Return the devices that belong to a class; without classes, all."""
    if not classes:
        return pool.candidates
    return [one for one in pool.candidates if any(each.holds(one.info) for each in classes)]


def too_few_workers(classes: int, workers: int, *, spare: int, per: int = 1) -> pytest.UsageError:
    """Return the error for a matrix that wants more devices than there are workers."""
    found = f"has {classes} classes with devices"
    if per > 1:
        found = f"wants {classes} devices, {per} of each class"
    have = "1 worker can have 1" if workers == 1 else f"{workers} workers can have {workers}"
    wanted = f"run with -n {classes}, which needs {classes + spare} devices"
    return pytest.UsageError(
        f"--claw-matrix {found}, and {have} of them: {wanted}"
        + (f" as --claw-spare-devices keeps {spare} from the workers" if spare else "")
    )


def lease_of(config: pytest.Config, device_class: DeviceClass | None = None) -> Lease:
    """Return the device of this process; in a matrix, that of a class.

    An error of the first call is raised again: nothing is searched for or started twice.
    """
    known = config.stash.setdefault(stash.LEASES_BY_CLASS, {})
    label = device_class.label if device_class else None
    if label not in known:
        try:
            known[label] = (
                _handed_lease(worker_input(config))
                if is_worker(config)
                else take_alone(config, device_class)
            )
        except ClawperatorError as error:
            known[label] = error
    found = known[label]
    if isinstance(found, ClawperatorError):
        raise found
    return found


def why_no_device(config: pytest.Config, device_class: DeviceClass) -> str | None:
    """Return the reason why this process has no device of the class; None if it has one."""
    if is_worker(config):
        handed = worker_input(config)
        if device_class.label in handed.get(OWN_CLASSES, (device_class.label,)):
            return None
        not_mine = f"--claw-matrix: the device of this worker is not {device_class.label}"
        return str(handed.get(EMPTY_CLASSES, {}).get(device_class.label, not_mine))
    pool = hold_alone(config)
    if any(device_class.holds(one.info) for one in pool.held):
        return None
    return why_class_is_empty(device_class, [one.info for one in pool.candidates])


def _handed_lease(handed: dict[str, Any]) -> Lease:
    if LEASE in handed:
        return Lease(**handed[LEASE])
    code, message, hint = handed.get(WHY_NO_LEASE) or (
        None,
        f"no devices were assigned to the {handed['workercount']} workers",
        "Say which ones: --claw-device auto takes those that are connected, --claw-device sim"
        " starts simulated phones.",
    )
    raise NoDeviceError(message, hint=hint, **({"code": code} if code else {}))
