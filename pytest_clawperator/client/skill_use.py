"""Skills in the hands of a client, which is given what finds, runs and compiles them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pytest_clawperator.contracts.ecmascript import to_string
from pytest_clawperator.contracts.events import Event, SkillFinished, SkillRun, SkillStarted
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import ClawperatorError, ConfigurationError


class Skills(Protocol):
    """What finds, runs and compiles skills, for one device; higher layers give it."""

    def run(
        self,
        serial: str,
        skill_id: str,
        words: Sequence[str],
        *,
        timeout: float | None,
        wanted: str | None,
    ) -> SkillRun:
        """Run the script of a skill on the device."""

    def compile(self, skill_id: str, artifact: str, variables: Mapping[str, Any]) -> Execution:
        """Compile a recipe."""


class NoSkills:
    """The skills of a client that was made without any."""

    def run(self, *_: object, **__: object) -> SkillRun:
        """Raise: there are none."""
        raise self._error()

    def compile(self, *_: object) -> Execution:
        """Raise: there are none."""
        raise self._error()

    def _error(self) -> ConfigurationError:
        return ConfigurationError(
            "this client was made without skills",
            hint="Clients that connect by themselves, and those of tests, have them.",
        )


def telling(
    tell: Callable[[Event], None], serial: str, skill_id: str, run: Callable[[], SkillRun]
) -> SkillRun:
    """Run a script, and tell of its beginning and of what it had printed at its end."""
    begin = time.monotonic()

    def tell_end(output: str, complaints: str) -> None:
        tell(
            SkillFinished(
                serial=serial,
                at=time.time(),
                skill_id=skill_id,
                elapsed=time.monotonic() - begin,
                output=output,
                complaints=complaints,
            )
        )

    tell(SkillStarted(serial=serial, at=time.time(), skill_id=skill_id))
    try:
        done = run()
    except ClawperatorError as error:
        output = error.details.get("stdout") or error.details.get("output") or ""
        tell_end(str(output), str(error.details.get("stderr", "")))
        raise
    tell_end(done.output, done.complaints)
    return done


def as_words(args: Sequence[Any]) -> list[str]:
    """Return the arguments of a script as texts; raise unless they are a list."""
    given: object = args
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ConfigurationError(
            f"args of run_skill() must be a list, found {type(given).__name__}",
            hint='As in run_skill("com.example.shop.search", ["lamp"]).',
        )
    return [to_string(one) for one in given]
