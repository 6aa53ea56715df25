"""Which devices a run holds against others, and how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import CLASSES, POOL, SPARES

if TYPE_CHECKING:
    from pytest_clawperator.devices.matrix import DeviceClass
    from pytest_clawperator.devices.pool import Candidate, DevicePool, Spares

# Who asks for a device where there are no workers.
ALONE = "main"


def is_wished(config: pytest.Config) -> bool:
    """Tell whether somebody said which devices the run shall use."""
    settings = settings_of(config)
    return bool(settings.device or settings.matrix or settings.require or settings.spare_devices)


def pool_of(config: pytest.Config) -> DevicePool:
    """Give the devices of this run, looked for once; none of them is held yet."""
    if POOL not in config.stash:
        from pytest_clawperator.devices.lease import open_leases
        from pytest_clawperator.devices.pool import DevicePool
        from pytest_clawperator.devices.requirements import Requirements
        from pytest_clawperator.plugin.evidence.on_failure import run_id
        from pytest_clawperator.plugin.leasing.hook_answers import ask

        def select(free: Sequence[Candidate], worker_id: str) -> Candidate | None:
            chosen: Candidate | None = ask(
                config.hook.pytest_clawperator_select_device,
                candidates=free,
                requirements=Requirements(),
                worker_id=worker_id,
            )
            return chosen

        found = _fitting(config)
        store = open_leases(settings_of(config).lease, run_id=run_id(config), say=_say(config))
        config.stash[POOL] = DevicePool(found, store=store, select=select)
        config.add_cleanup(config.stash[POOL].close)
    return config.stash[POOL]


def hold_alone(config: pytest.Config) -> DevicePool:
    """Hold what one process needs: a device, or one of each class, and the spare ones."""
    pool = pool_of(config)
    if pool.held:
        return pool
    if _is_each(config):
        _hold_free(config, pool.candidates)
    else:
        groups = _members(pool, _wanted_classes(config))
        _hold(config, groups or [pool.chosen_first(ALONE)])
    return pool


def hold_for_workers(config: pytest.Config, workers: int) -> DevicePool:
    """Hold a device for each worker, and the spare ones.

    Where nobody said which, those that are free: workers without one run the tests that
    need none.
    """
    pool, spare, classes = pool_of(config), settings_of(config).spare_devices, 0
    groups: Sequence[Sequence[Candidate]] = ()
    if not is_wished(config):
        if not pool.held:
            _hold_free(config, pool.candidates)
    elif _is_each(config):
        if not pool.held:
            _hold_free(config, pool.candidates)
        classes = len(pool.held) - spare
    else:
        groups = _members(pool, _wanted_classes(config))
        if pool.held:  # by -n auto, which takes what is free
            groups = [each for each in groups if set(each).intersection(pool.held)]
        classes = len(groups)
        if not pool.held and classes <= workers:
            usable = _usable(pool, _wanted_classes(config))
            _hold(config, [*groups, *[usable] * (workers - classes)])
    if classes > workers:
        raise _too_few_workers(classes, workers, spare=spare)
    pool.keep(workers + spare, groups=groups)
    return pool


def hold_all(config: pytest.Config) -> int:
    """Hold every device that is free now, and give how many workers that makes."""
    pool, settings = pool_of(config), settings_of(config)
    _hold_free(config, _usable(pool, _wanted_classes(config)))
    missing = [
        group
        for group in _members(pool, _wanted_classes(config))
        if not set(group).intersection(pool.held)
    ]
    if missing and settings.lease_timeout:
        pool.hold_each(missing, wait=settings.lease_timeout, say=_say(config))
    return len(pool.held) - settings.spare_devices


def find_classes(config: pytest.Config) -> tuple[DeviceClass, ...]:
    """Find the classes of ``--claw-matrix``; where each device is one, the devices are held."""
    if CLASSES not in config.stash:
        matrix, devices = settings_of(config).matrix, []
        if matrix is None or settings_of(config).validate:
            return ()
        if _is_each(config):
            devices = [one.info for one in _each(config)]
        config.stash[CLASSES] = matrix.classes(devices)
    return config.stash[CLASSES]


def _each(config: pytest.Config) -> Sequence[Candidate]:
    """Give the devices that are a class of their own: all that workers can have."""
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
    """Give the devices for tests that want several, once the devices of the run are held."""
    if SPARES not in config.stash:
        from pytest_clawperator.devices.pool import Spares

        pool = pool_of(config)
        groups = _members(pool, _wanted_classes(config))
        reserved = pool.reserve(settings_of(config).spare_devices, groups=groups)
        config.stash[SPARES] = Spares([pool.lease_of(one) for one in reserved])
    return config.stash[SPARES]


def _fitting(config: pytest.Config) -> list[Candidate]:
    """List the devices that meet ``--claw-require``."""
    from pytest_clawperator.errors import NoDeviceError

    found = _listed(config)
    requires = settings_of(config).require
    lacking = {one.serial: requires.unmet(one.info) for one in found} if requires else {}
    fitting = [one for one in found if not lacking.get(one.serial)]
    if found and not fitting:
        told = "; ".join(f"{serial}: {', '.join(unmet)}" for serial, unmet in lacking.items())
        raise NoDeviceError(
            f"no device meets --claw-require: {told}",
            hint="Connect one that does, or ask for less.",
            details={"devices": list(lacking)},
        )
    return fitting


def _listed(config: pytest.Config) -> list[Candidate]:
    """List the devices as the hook has them, if it gives any."""
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.plugin.leasing.hook_answers import ask, wrong_answer

    hook = config.hook.pytest_clawperator_list_devices
    answer = ask(hook, config=config)
    found = list(answer) if isinstance(answer, Iterable) else [answer]
    if found and not all(isinstance(one, Candidate) for one in found):
        raise wrong_answer(hook.name, answer, f"a list of {Candidate.__module__}.Candidate")
    return found


def _hold(config: pytest.Config, groups: Iterable[Sequence[Candidate]]) -> None:
    """Hold one device of each group and the spare ones, all or none."""
    settings, pool = settings_of(config), pool_of(config)
    spare = settings.spare_devices
    wanted = [*groups, *[pool.candidates] * spare]
    pool.hold_each(wanted, spare=spare, wait=settings.lease_timeout, say=_say(config))


def _hold_free(config: pytest.Config, candidates: Sequence[Candidate]) -> None:
    """Hold those that are free now, say who has the others; wait only if there are too few."""
    pool = pool_of(config)
    others = pool.hold_free(candidates)
    if len(pool.held) <= settings_of(config).spare_devices:
        pool.keep(0)
        _hold(config, [candidates])
        return
    for told in others:
        _say(config)(f"{told}, and left out")


def _members(pool: DevicePool, classes: Iterable[DeviceClass]) -> list[Sequence[Candidate]]:
    """Give the devices of each class that has any."""
    groups = [[one for one in pool.candidates if each.holds(one.info)] for each in classes]
    return [group for group in groups if group]


def _usable(pool: DevicePool, classes: Sequence[DeviceClass]) -> Sequence[Candidate]:
    """Give the devices that belong to a class; without classes, all."""
    if not classes:
        return pool.candidates
    return [one for one in pool.candidates if any(each.holds(one.info) for each in classes)]


def _too_few_workers(classes: int, workers: int, *, spare: int) -> pytest.UsageError:
    have = "1 worker can have 1" if workers == 1 else f"{workers} workers can have {workers}"
    wanted = f"run with -n {classes}, which needs {classes + spare} devices"
    return pytest.UsageError(
        f"--claw-matrix has {classes} classes with devices, and {have} of them: {wanted}"
        + (f" as --claw-spare-devices keeps {spare} from the workers" if spare else "")
    )


def _say(config: pytest.Config) -> Callable[[str], None]:
    from pytest_clawperator.plugin.reporting.events import events_of

    return events_of(config).say
