"""Run the script of a skill in the environment that it needs, and judge how it ended."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_clawperator import errors
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.contracts.events import SkillRun
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.skills.compile import compile_artifact
from pytest_clawperator.skills.registry import Registry, read_registry
from pytest_clawperator.skills.script import Ended, OnOutput, run_script
from pytest_clawperator.skills.skill import Skill

#: How long a script may take, in seconds.
TIMEOUT = 120.0
_SHOWN = 400


def run_skill(
    registry: Registry,
    skill_id: str,
    words: Sequence[str] = (),
    *,
    timeout: float | None = None,
    wanted: str | None = None,
    environment: Mapping[str, str] = os.environ,
    on_output: OnOutput | None = None,
) -> SkillRun:
    """Run the script of a skill with these arguments; raise if it fails.

    ``wanted`` is a text that it must print. The first argument is the device, for scripts that
    use one.
    """
    skill = registry.get(skill_id)
    asked = _Asked(skill.id, timeout, wanted)
    command = [*_program(_script(registry, skill), skill), *words]
    begin = time.monotonic()
    try:
        ended = run_script(
            command,
            timeout=timeout or TIMEOUT,
            environment=environment,
            wanted=wanted or "",
            on_output=on_output,
        )
    except (
        errors.UNUSABLE_FILE
    ) as error:  # no such program, or an argument that no program can take
        raise asked.failed(f"cannot be run: {_why(error)}") from error
    asked.check(ended)
    return SkillRun(
        skill_id=skill.id,
        output=ended.stdout.text(),
        complaints=ended.stderr.text(),
        elapsed=time.monotonic() - begin,
    )


@dataclass(frozen=True)
class _Asked:
    """What a script was asked to do, for its error messages."""

    skill_id: str
    timeout: float | None
    wanted: str | None

    def check(self, ended: Ended) -> None:
        """Raise unless the script succeeded and printed the wanted text."""
        printed = {"stdout": ended.stdout.text(), "stderr": ended.stderr.text()}
        if ended.code is None:
            allowed = round((self.timeout or TIMEOUT) * 1000)
            raise self.failed(
                f"timed out after {allowed}ms",
                code=errors.ErrorCode.SKILL_EXECUTION_TIMEOUT,
                hint="The script and its child processes were stopped. Allow more time, or find out"
                " what it waited for.",
                **printed,
            )
        if ended.code != 0:
            code = ended.code if ended.code > 0 else 128 - ended.code
            raise self.failed(f"exited with code {code}", exitCode=code, **printed)
        if self.wanted and not ended.stdout.is_wanted_found:
            raise self.failed(
                "output did not include expected text",
                code=errors.ErrorCode.SKILL_OUTPUT_ASSERTION_FAILED,
                output=printed["stdout"],
            )

    def failed(
        self, why: str, *, code: str | None = None, hint: str | None = None, **printed: Any
    ) -> errors.SkillFailedError:
        """Return the error, with the request and the output as details."""
        details: dict[str, Any] = {"skillId": self.skill_id, **_said(printed)}
        if self.timeout is not None:
            details["timeoutMs"] = round(self.timeout * 1000)
        if self.wanted is not None:
            details["expectedSubstring"] = self.wanted
        message = f"Skill {self.skill_id} {why}"
        return errors.SkillFailedError(
            message, code=code, hint=hint or _last_words(printed), details=details
        )


def _said(printed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in printed.items() if value != "" or name == "output"}


def _last_words(printed: Mapping[str, Any]) -> str | None:
    """Return the end of the output as a hint, because it usually explains the failure."""
    text = (printed.get("stderr") or printed.get("stdout") or printed.get("output") or "").strip()
    return f"It printed last: {text[-_SHOWN:]}" if text else None


def _script(registry: Registry, skill: Skill) -> Path:
    """Return the file of the script to run."""
    chosen = skill.script()
    if chosen is None:
        raise _no_script(skill, f"Skill {skill.id} has no scripts defined")
    try:
        path = registry.file(chosen)
    except errors.UNUSABLE_FILE as error:
        raise _no_script(skill, f"Script not found: {error}") from error
    if not errors.is_file(path):
        raise _no_script(skill, f"Script not found: {path}")
    return path


def _program(script: Path, skill: Skill) -> list[str]:
    """Return the command that runs a script: by node, by this Python, or itself."""
    if script.suffix == ".py":
        return [sys.executable, str(script)]
    if script.suffix != ".js":
        return [str(script)]
    node = shutil.which("node")
    if node is None:
        raise errors.SkillError(
            f"Skill {skill.id} is written in JavaScript, and there is no `node` on the PATH",
            code=errors.ErrorCode.SKILL_EXECUTION_FAILED,
            hint="Install Node.js.",
            details={"skillId": skill.id},
        )
    return [node, str(script)]


def _no_script(skill: Skill, message: str) -> errors.SkillError:
    return errors.SkillError(
        message,
        code=errors.ErrorCode.SKILL_SCRIPT_NOT_FOUND,
        hint=f"`clawperator-py skills validate {skill.id}` lists what else is missing.",
        details={"skillId": skill.id},
    )


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return f"{errors.file_problem(error)}; a script must be executable (chmod +x)"
    return errors.file_problem(error) if isinstance(error, OSError) else str(error)


PROGRAM_VARIABLE = "CLAWPERATOR_BIN"
PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"
SERVER_VARIABLE = "ADB_SERVER_SOCKET"


def script_environment(
    base: Mapping[str, str] = os.environ,
    *,
    operator_package: str,
    adb: str | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the environment of a script that runs executions on a device.

    ``adb`` is the server of the device, if it differs from that of ``base``.
    """
    found = {**base, PACKAGE_VARIABLE: operator_package, **more}
    found[PROGRAM_VARIABLE] = base.get(PROGRAM_VARIABLE) or host_program()
    if adb is not None:
        found[SERVER_VARIABLE] = adb_socket(adb)
    return found


def host_program() -> str:
    """Return the command that runs this program, with paths that contain spaces in quotes."""
    beside = Path(sys.executable).with_name("clawperator-py")
    words = [str(beside)] if beside.is_file() else [sys.executable, "-m", "pytest_clawperator"]
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def adb_socket(server: str) -> str:
    """Return the address of an adb server in the form that adb reads."""
    if server.startswith(("tcp:", "localfilesystem:")):
        return server
    if server.startswith("/"):
        return f"localfilesystem:{server}"
    return f"tcp:{server}" if ":" in server else f"tcp:127.0.0.1:{server}"


@dataclass(frozen=True, kw_only=True)
class DeviceSkills:
    """The skills that a client can use on its device; the registry is read on first use.

    ``adb`` is the server of the device; without one scripts cannot reach it. ``more`` is added
    to the environment of scripts.
    """

    adb: str | None
    operator_package: str | None = None
    registry: Callable[[], Registry] = read_registry
    more: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        serial: str,
        skill_id: str,
        words: Sequence[str],
        *,
        timeout: float | None,
        wanted: str | None,
    ) -> SkillRun:
        """Run the script of a skill on the device; raise if it fails."""
        if self.adb is None:
            raise errors.ExecutionsOnlyError(
                "run_skill is not possible here: a script needs a device behind an adb server",
                serial=serial,
            )
        package = self.operator_package or OPERATOR_PACKAGE
        return run_skill(
            self.registry(),
            skill_id,
            [serial, *words],
            timeout=timeout,
            wanted=wanted,
            environment=script_environment(operator_package=package, adb=self.adb, more=self.more),
        )

    def compile(self, skill_id: str, artifact: str, variables: Mapping[str, Any]) -> Execution:
        """Compile a recipe; raise also for likely mistakes."""
        return compile_artifact(self.registry(), skill_id, artifact, variables).checked()
