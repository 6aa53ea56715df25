"""Where an expectation gets its snapshots: from a device, or from one fixed snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_clawperator.assertions.wait_loop import look_limit
from pytest_clawperator.client.actions import DirectActions
from pytest_clawperator.client.perform import last_step
from pytest_clawperator.client.timing import timeout_of
from pytest_clawperator.contracts.actions import Retry, SnapshotUi
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

# Seconds after which any look has ended by itself.
_AMPLE = 30.0
_ONE_LOOK = SnapshotUi(retry=Retry(max_attempts=1))


class ScreenSource(Protocol):
    """Where snapshots come from."""

    @property
    def serial(self) -> str | None:
        """The device's serial; None for a fixed snapshot."""
        ...

    @property
    def is_strict(self) -> bool:
        """Whether a matcher that matches several nodes is an error."""
        ...

    def look(self) -> Snapshot:
        """Return what is on the screen now."""
        ...

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Return how long to wait: the timeout if given, else the default, else the source's."""
        ...


@dataclass(frozen=True)
class LiveScreen:
    """The screen of a device."""

    client: DirectActions

    @property
    def serial(self) -> str | None:
        """The device's serial."""
        return self.client.serial

    @property
    def is_strict(self) -> bool:
        """Whether a matcher that matches several nodes is an error."""
        return self.client.performer.strict

    def look(self) -> Snapshot:
        """Take a snapshot, within the time that is left for this look."""
        limit = look_limit()
        if limit is None or limit > _AMPLE:
            return self.client.snapshot()
        result = self.client.performer.run([_ONE_LOOK], timeout=limit)
        result.raise_for_status()
        return last_step(result).snapshot

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Return how long to wait: the timeout if given, else the default, else the client's."""
        return timeout_of(timeout, self.client.timeout if default is None else default)


@dataclass(frozen=True)
class FixedScreen:
    """A snapshot that was taken before: it does not change, so there is nothing to wait for."""

    snapshot: Snapshot
    serial: str | None = None
    is_strict: bool = False

    def look(self) -> Snapshot:
        """Return the snapshot."""
        return self.snapshot

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Return 0; refuse a timeout."""
        if timeout is not None:
            raise ConfigurationError(
                f"timeout={timeout} makes no sense here: a snapshot stays as it is",
                hint="Expect it of claw.node(...) or of the client, and it is waited for.",
            )
        return 0.0
