"""The simulator as a separate process, held by a context manager."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from pytest_clawperator.errors import ConfigurationError, DeviceError, ErrorCode

START_DEADLINE = 30.0
# It ends within a fraction of this; one that does not react is not waited for.
STOP_DEADLINE = 2.0


class Simulator:
    """Simulated phones behind an adb server of their own, for as long as the block lasts.

    ``with Simulator(devices=2) as sim:`` gives ``sim.adb_host``, ``sim.adb_port`` and
    ``sim.serials``. The keywords are the options of ``python -m pytest_clawperator.simulator``;
    ``devices="phone,tablet;api=30,35"`` also describes the phones. ``pid_file`` is a descriptor
    that the process inherits, and to which its id is written as soon as it has one.
    """

    def __init__(
        self,
        *,
        devices: int | str = 1,
        emulators: int = 0,
        apps: Sequence[str | Path] = (),
        profile: str | None = None,
        operator: str | None = None,
        seed: int | None = None,
        time_scale: float | None = None,
        chatter: float | None = None,
        api: int | None = None,
        dark: bool = False,
        faults: Sequence[str] = (),
        quirks: Sequence[str] = (),
        stay: bool = False,
        pid_file: int | None = None,
    ) -> None:
        self._options = _command_line(
            {
                "--devices": devices,
                "--emulators": emulators,
                "--profile": profile,
                "--operator": operator,
                "--seed": seed,
                "--time-scale": time_scale,
                "--chatter": chatter,
                "--api": api,
                "--app": list(apps),
                "--fault": list(faults),
                "--quirk": list(quirks),
                "--dark": dark,
                "--stay": stay,
            }
        )
        self._pid_file = pid_file
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self.adb_host = ""
        self.adb_port = 0
        self.serials: list[str] = []
        self.pid = 0

    def __enter__(self) -> Simulator:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Simulator:
        """Start the process and return once every phone answers."""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program and options
                [sys.executable, "-m", "pytest_clawperator.simulator", *self._options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                # Ctrl-C is for the process that uses the phones, which then ends them.
                start_new_session=True,
                pass_fds=() if self._pid_file is None else (self._pid_file,),
                env={
                    **os.environ,
                    "PYTHONPATH": _python_path(),
                    # Searching for plugins reads the metadata of everything installed.
                    "PYDANTIC_DISABLE_PLUGINS": "__all__",
                },
            )
        except ValueError as error:  # a NUL, or half of a surrogate pair
            self.stop()
            raise ConfigurationError(
                f"the options {shlex.join(self._options)!r} cannot be passed to the simulator",
                hint="Leave out the NUL, or the half of a character, that they hold.",
            ) from error
        try:
            if self._pid_file is not None:
                os.pwrite(self._pid_file, str(self._process.pid).encode(), 0)
            ready = json.loads(self._first_line())
        except BaseException:
            self.stop()
            raise
        self.adb_host, self.adb_port = ready["adb"]["host"], ready["adb"]["port"]
        self.serials, self.pid = ready["serials"], ready["pid"]
        return self

    def stop(self) -> None:
        """End the process and everything it started."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None

    def leave(self) -> None:
        """Let the process go on without this one."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdout is not None
            process.stdout.close()
            process.returncode = 0  # else its object would warn that it was not waited for
        self.stop()

    def _first_line(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        deadline = time.monotonic() + START_DEADLINE
        line = b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, left))
            chunk = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            if not chunk:
                raise self._failed_to_start(timed_out=not ready)
            line += chunk
        return line

    def _failed_to_start(self, *, timed_out: bool) -> DeviceError | ConfigurationError:
        assert self._process is not None
        assert self._complaints is not None
        if not timed_out:
            self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode("utf-8", "replace").strip()
        if self._process.returncode == 2:
            return _refused(said)
        what = f"was not ready within {START_DEADLINE:.0f} s" if timed_out else "ended immediately"
        return DeviceError(
            f"the simulator {what}; it said: {said or 'nothing'}",
            code=ErrorCode.EMULATOR_START_FAILED,
            hint="Run `python -m pytest_clawperator.simulator` by hand to see more.",
        )


def _refused(said: str) -> ConfigurationError:
    """Return the error that the process printed; its hint is on a separate line."""
    message, _, hint = said.removeprefix(f"{ErrorCode.CONFIGURATION_INVALID}: ").partition(
        "\n  hint: "
    )
    return ConfigurationError(f"the simulator refused its options: {message}", hint=hint or None)


def _command_line(settings: Mapping[str, object]) -> list[str]:
    """Return the arguments: a list repeats its option, True is a bare one, None is left out."""
    words: list[str] = []
    for name, value in settings.items():
        if value is True:
            words.append(name)
        elif isinstance(value, list):
            words += [text for item in value for text in (name, str(item))]
        elif value is not None and value is not False:
            words += [name, str(value)]
    return words


def _python_path() -> str:
    """Return the module search path with which the process imports this same package."""
    here = str(Path(__file__).parent.parent.parent)
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
