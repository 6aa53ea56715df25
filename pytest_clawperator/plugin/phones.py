"""The phones that a run starts and ends: simulated ones and emulators."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.requirements import DeviceClass, Matrix, Requirements, meets_api
from pytest_clawperator.devices.spec import DeviceSpec
from pytest_clawperator.emulators import avd
from pytest_clawperator.emulators.boot import AdbHost
from pytest_clawperator.emulators.emulators import ProvisionedEmulator
from pytest_clawperator.emulators.fleet import EmulatorFleet, EmulatorFleetOptions, most_emulators
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    EmulatorError,
    ErrorCode,
    TransportError,
)
from pytest_clawperator.plugin import failures, stash
from pytest_clawperator.plugin.leasing import reserve_emulator, too_few_workers
from pytest_clawperator.plugin.options import OPTIONS, written_value
from pytest_clawperator.plugin.run import call_hook, events_of, show_line, wrong_result
from pytest_clawperator.plugin.settings import PROFILES, settings_of
from pytest_clawperator.plugin.worker_input import (
    LEASE,
    ask,
    has_channel,
    is_worker,
    reply,
    worker_input,
)
from pytest_clawperator.simulator.child_process import Simulator
from pytest_clawperator.transport.server import locate_server
from pytest_clawperator.transport.wire import AdbServer

#: What to do about phones that ended.
PHONES_HINT = (
    "See what ended it (the system's log shows if memory ran out), and run the tests again."
)
#: The topic about which a worker asks the controller.
TOPIC = "phones ended how"
_ANSWER_WITHIN = 10.0


def end_of_phones(
    config: pytest.Config, serial: str | None, *, in_trouble: bool = True
) -> str | None:
    """Return how the process of a simulated phone ended; None if it runs, or is not ours.

    A worker asks the controller, whose phones they are, but only if there is trouble.
    """
    if is_worker(config):
        serial = serial or worker_input(config).get(LEASE, {}).get("serial")
        known = config.stash.setdefault(stash.ENDED_PHONES, {})
        if in_trouble and serial not in known and (end := _ask(config, serial)):
            known[serial] = end
        return known.get(serial)
    phones = config.stash.get(stash.SIMULATED_PHONES, None)
    return None if phones is None else phones.end_of(serial, in_trouble=in_trouble)


def reply_how(node: Any, serial: str | None) -> None:
    """Answer a worker that asks how the process of a simulated phone ended."""
    phones = node.config.stash.get(stash.SIMULATED_PHONES, None)
    reply(node, TOPIC, phones.end_of(serial, show=False) if phones is not None else None)


def _ask(config: pytest.Config, serial: str | None) -> str | None:
    if not has_channel(config):
        return None
    try:
        end: str | None = ask(config, TOPIC, serial, timeout=_ANSWER_WITHIN)
    except (OSError, EOFError):  # the controller is gone, or busy
        return None
    return end


# How long a process may take to end.
_ENDED_WITHIN = 3.0


@dataclass(frozen=True, kw_only=True)
class SimulatorScenario:
    """The properties of simulated phones; the fields are options of the simulator."""

    apps: Sequence[str | Path] = ()
    faults: Sequence[str] = ()
    profile: str | None = None
    operator: str | None = None
    api: int | None = None
    seed: int | None = None
    time_scale: float | None = None
    chatter: float | None = None
    dark: bool = False


class RunSimulator(Simulator):
    """Simulated phones whose process is watched."""

    def end(self, *, in_trouble: bool) -> str | None:
        """Return how the process ended, if it did; ``in_trouble``, wait for one that is ending."""
        code = self._process.poll() if self._process is not None else None
        if code is None and in_trouble:
            code = self._near_end()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the simulated phones' process ended ({how})"

    def _near_end(self) -> int | None:
        """Wait for a process that is about to end: its adb server may be gone a moment earlier."""
        process = self._process
        try:
            AdbServer(self.adb_host, self.adb_port).ask("host:version", timeout=_ENDED_WITHIN)
        except TransportError:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_ENDED_WITHIN) if process is not None else None
        return None


class SimulatedPhones:
    """The phones that this process started; shows once that they have ended."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._shown: set[int] = set()
        self.simulators: list[RunSimulator] = []
        #: How the Operator of each phone behaves, by its serial.
        self.profiles: dict[str, str] = {}

    def end_of(
        self, serial: str | None, *, in_trouble: bool = True, show: bool = True
    ) -> str | None:
        """Return how the process of a phone ended; without a serial, that of any phone."""
        for simulator in self.simulators:
            if serial is None or serial in simulator.serials:
                end = simulator.end(in_trouble=in_trouble)
                if end is not None:
                    if show and simulator.pid not in self._shown:
                        self._shown.add(simulator.pid)
                        events_of(self._config).notice("", end)
                    return end
        return None


def start_simulator(config: pytest.Config, phones: int | str) -> tuple[AdbServer, list[str]]:
    """Start this many phones, or phones of these kinds; return their adb server and serials."""
    settings = settings_of(config)
    hook = config.hook.pytest_clawperator_simulator_scenario
    scenario = call_hook(hook, config=config)
    if not isinstance(scenario, SimulatorScenario):
        raise wrong_result(hook.name, scenario, f"a {__name__}.SimulatorScenario")
    options = {**vars(scenario), "apps": [*scenario.apps, *settings.sim_app]}
    if settings.sim_profile is not None:
        options["profile"] = settings.sim_profile
    if settings.sim_time_scale is not None:
        options["time_scale"] = settings.sim_time_scale
    simulator = RunSimulator(devices=phones, **options)
    config.add_cleanup(simulator.stop)
    started = config.stash.setdefault(stash.SIMULATED_PHONES, SimulatedPhones(config))
    started.simulators.append(simulator)
    simulator.start()
    started.profiles.update(dict.fromkeys(simulator.serials, options["profile"] or PROFILES[0]))
    return AdbServer(simulator.adb_host, simulator.adb_port), list(simulator.serials)


def blame_ended_phones(config: pytest.Config, report: pytest.TestReport) -> None:
    """Check whether the simulated phones died, on behalf of a worker that cannot see it."""
    phones = config.stash.get(stash.SIMULATED_PHONES, None)
    if phones is None or not getattr(report, failures.INFRASTRUCTURE, False):
        return
    serial = dict(report.user_properties).get(failures.DEVICE_PROPERTY)
    end = phones.end_of(None if serial is None else str(serial))
    message = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
    if end is not None and end not in message:
        failures.begin_message(report, f"{end}: {message.removeprefix(failures.PREFIX)}")


@dataclass(frozen=True)
class _Wanted:
    """An emulator that is wanted, and the class of a matrix that it is for."""

    profile: avd.EmulatorProfile
    device_class: DeviceClass | None = None


def start_emulators(config: pytest.Config, spec: DeviceSpec) -> tuple[AdbServer, list[str]]:
    """Start the emulators of a run, once; return their adb server and serials.

    A class of a matrix without an emulator is reported; without a matrix, a missing emulator
    is an error.
    """
    failed = config.stash.setdefault(stash.FAILED_EMULATORS, {})
    if spec in failed:
        raise failed[spec]  # another try would take as long, and end the same
    try:
        return _start(config, spec)
    except ClawperatorError as error:
        failed[spec] = error
        raise


def _start(config: pytest.Config, spec: DeviceSpec) -> tuple[AdbServer, list[str]]:
    server = locate_server(next(iter(settings_of(config).adb), None))
    wanted = _wanted(config, spec)
    _report_processor(config, wanted)
    fleet = _fleet(config, server)
    config.add_cleanup(fleet.close)
    config.stash.setdefault(stash.EMULATOR_FLEETS, []).append(fleet)
    results = fleet.provision([one.profile for one in wanted])
    errors = [
        (one.device_class, result)
        for one, result in zip(wanted, results, strict=True)
        if isinstance(result, EmulatorError)
    ]
    if errors and (len(errors) == len(wanted) or errors[0][0] is None):
        raise errors[0][1]
    if errors:
        _report_failed(config, errors, Counter(one.device_class for one in wanted))
        missing = config.stash.get(stash.MISSING_EMULATORS, 0)
        config.stash[stash.MISSING_EMULATORS] = missing + len(errors)
    return server, [one.serial for one in results if isinstance(one, ProvisionedEmulator)]


def notice_lost_emulators(config: pytest.Config) -> None:
    """Report the emulators that ended before the run did, while their output is still there."""
    for fleet in config.stash.get(stash.EMULATOR_FLEETS, []):
        for serial, why in fleet.lost().items():
            events_of(config).notice(serial, why)


def _report_failed(
    config: pytest.Config,
    errors: Sequence[tuple[DeviceClass | None, EmulatorError]],
    wanted: Mapping[DeviceClass | None, int],
) -> None:
    """Report each class that has no emulator, or fewer than wanted, with one reason."""
    for device_class, missing in Counter(one for one, _ in errors).items():
        error = next(error for one, error in errors if one == device_class)
        error.wording = failures.for_pytest
        few = f"{missing} of {wanted[device_class]} emulators are missing"
        problem = "there is no emulator" if missing == wanted[device_class] else few
        _report(config, device_class, problem, str(error))


def _fleet(config: pytest.Config, server: AdbServer) -> EmulatorFleet:
    settings, turn, shown = settings_of(config), threading.Lock(), set[str]()

    def notify(text: str) -> None:
        with turn:
            if text not in shown:  # several wait for the same image
                shown.add(text)
                show_line(config, text, alarming=False)

    # An emulator finds its adb server by itself.
    environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(server.port)}
    options = EmulatorFleetOptions(
        boot=settings.emulator_boot, keep=settings.emulator_keep, boots=settings.emulator_boots
    )
    return EmulatorFleet(
        AdbHost(server, notify=notify),
        sdk=Sdk(environment),
        options=options,
        take=partial(reserve_emulator, config, server),
        notify=notify,
    )


def _wanted(config: pytest.Config, spec: DeviceSpec) -> list[_Wanted]:
    """Return the emulators that a run wants."""
    settings = settings_of(config)
    base = settings.emulator or avd.default_profile()
    if spec.avd is not None:
        _check_enough(config, spec, 1)
        return [_Wanted(replace(base, name=spec.avd, as_it_is=True))]
    if settings.matrix is not None and settings.matrix.wanted is not None:
        return _for_matrix(config, spec, settings.matrix, base)
    least = 1 + settings.spare_devices
    count = spec.count or config.stash.get(stash.WORKER_COUNT, least)
    count = count or max(least, most_emulators(base))
    _check_enough(config, spec, count)
    _report_unused(config, spec, count)
    return _numbered([_Wanted(base)] * count)


def _for_matrix(
    config: pytest.Config, spec: DeviceSpec, matrix: Matrix, base: avd.EmulatorProfile
) -> list[_Wanted]:
    """Return the emulators of each class; raise if there are not enough workers for them."""
    if spec.count is not None:
        raise pytest.UsageError(
            f"--claw-device {spec} sets the number of emulators, and so does --claw-matrix: write"
            " --claw-device emulator, and per=2 in the matrix for two of each class"
        )
    spare, needed = settings_of(config).spare_devices, config.stash.get(stash.WORKER_COUNT, None)
    # A single process uses one of each class, even if workers would share a class.
    per = 1 if needed is None else matrix.per
    of_classes = _of_classes(config, matrix.wanted or (), base)
    least, workers = len(of_classes) * per, (needed or 0) - spare
    if needed and workers < least:
        raise too_few_workers(least, workers, spare=spare, per=per)
    count = max(least, workers) + spare
    places = [of_classes[place % len(of_classes)] for place in range(count)]
    return _numbered(places)


def _numbered(places: Sequence[_Wanted]) -> list[_Wanted]:
    """Give equal emulators numbers, if they have a name."""
    return [
        replace(one, profile=one.profile.numbered(1 + places[:place].count(one)))
        if one.profile.name is not None
        else one
        for place, one in enumerate(places)
    ]


def _check_enough(config: pytest.Config, spec: DeviceSpec, count: int) -> None:
    """Raise if a run needs more emulators than were asked for, before any of them boots."""
    spare = settings_of(config).spare_devices
    needed = config.stash.get(stash.WORKER_COUNT, 0) or 1 + spare
    if count >= needed or len(settings_of(config).device) > 1:
        return
    there = "1 emulator" if count == 1 else f"{count} emulators"
    why = ", one for each worker" if needed - spare > 1 else ""
    also = f", {spare} of them spare" if spare else ""
    raise pytest.UsageError(
        f"--claw-device {spec} is {there}, and {needed} are needed{why}{also}: run with fewer, or"
        " write --claw-device emulator, which starts as many as are needed"
    )


def _report_unused(config: pytest.Config, spec: DeviceSpec, count: int) -> None:
    """Report emulators that would boot without being used."""
    settings = settings_of(config)
    spare = settings.spare_devices
    used = config.stash.get(stash.WORKER_COUNT, 1 + spare)
    if not used or used >= count or settings.matrix is not None:  # each is a class
        return
    workers = "one process" if stash.WORKER_COUNT not in config.stash else f"-n {used - spare}"
    events_of(config).show(
        f"--claw-device {spec} starts {count} emulators, and {workers} uses {used} of them; all"
        f" are used with -n {count - spare}"
    )


def _report_processor(config: pytest.Config, wanted: Sequence[_Wanted]) -> None:
    """Report that emulators use the processor of this machine, if none was chosen."""
    option = next(one for one in OPTIONS if one.field == "emulator")
    is_open = any(
        not one.profile.as_it_is
        and (one.device_class is None or one.device_class.requires.abi is None)
        for one in wanted
    )
    is_chosen = "abi" in str(written_value(config, option) or "")
    if is_open and not is_chosen and avd.host_abi() != avd.DOCUMENTED_ABI:
        events_of(config).show(
            f"emulators have the processor of this machine, {avd.host_abi()}, as it cannot run the"
            f" documented {avd.DOCUMENTED_ABI}; --claw-emulator abi=… chooses another"
        )


def _of_classes(
    config: pytest.Config, classes: Sequence[DeviceClass], base: avd.EmulatorProfile
) -> list[_Wanted]:
    """Return an emulator for each class; report classes for which there can be none."""
    wanted, reasons = [], []
    for one in classes:
        profile = _profile_for(one.requires, base)
        if isinstance(profile, avd.EmulatorProfile):
            name = profile.name and f"{profile.name}-{one.label}"
            wanted.append(_Wanted(replace(profile, name=name), one))
            continue
        reasons.append(f"{one.label}: {profile}")
        _report(config, one, "there is no emulator", profile)
    if not wanted:
        raise EmulatorError(
            f"no emulator can be made for --claw-matrix: {'; '.join(reasons)}",
            code=ErrorCode.EMULATOR_UNSUPPORTED,
            hint="Classes of emulators can differ by api, abi and form.",
        )
    return wanted


def _profile_for(requires: Requirements, base: avd.EmulatorProfile) -> avd.EmulatorProfile | str:
    """Return the emulator that meets requirements, or why there is none."""
    if requires.emulator is False:
        return "it wants real devices"
    for name in ("model", "manufacturer"):
        if getattr(requires, name) is not None:
            return f"the {name} of an emulator cannot be chosen"
    given: dict[str, Any] = {}
    if requires.api is not None:
        fitting = [level for level in avd.API_LEVELS if meets_api(requires.api, level)]
        if not fitting:
            return f"there is no Android with api={requires.api}"
        given["api"] = min(fitting, key=lambda level: abs(level - base.api))
    if requires.abi is not None:
        given["abi"] = requires.abi
    try:
        if requires.form is not None:
            given["device"] = avd.device_of_form(requires.form)
        return replace(base, **given)
    except ConfigurationError as error:
        return f"{error.message}. {failures.hint_of(error)}"


def _report(config: pytest.Config, device_class: DeviceClass | None, what: str, why: str) -> None:
    of_class = f" for {device_class.label}" if device_class else ""
    text = f"{what}{of_class}: {why}"
    events_of(config).notice("", text)
    if config.get_verbosity() < 0:
        show_line(config, text, even_quiet=True)  # whole tests are lost: quiet means no progress
