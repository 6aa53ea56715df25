"""Skills for one device: what a client uses, given how its device is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.contracts.events import SkillRun
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import ExecutionsOnlyError
from pytest_clawperator.skills.compile import compile_artifact
from pytest_clawperator.skills.environment import script_environment
from pytest_clawperator.skills.registry import Registry, read_registry
from pytest_clawperator.skills.run import run_skill


@dataclass(frozen=True, kw_only=True)
class DeviceSkills:
    """The skills of a registry, which is read when one is used.

    ``adb`` is the server that has the device; without one a script could not reach it.
    ``more`` is what scripts find in their environment besides.
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
            raise ExecutionsOnlyError(
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
        """Compile a recipe; raise for what is probably a mistake, too."""
        return compile_artifact(self.registry(), skill_id, artifact, variables).checked()
