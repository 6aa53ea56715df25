"""Counters of a simulated phone: executions, overlaps, commands and screenshots."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable


class Stats:
    """Counters of one phone."""

    def __init__(self, *, on_execution: Callable[[], object] = lambda: None) -> None:
        self._on_execution = on_execution
        self._in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Reset every counter; what is in flight stays in flight."""
        self.executions = 0
        self.overlaps = 0
        self.max_in_flight = self._in_flight
        self.broadcasts = 0
        self.screenshots = 0
        self.commands: Counter[str] = Counter()

    def execution_started(self) -> None:
        """Count an execution that the Operator accepted; one beside another is an overlap."""
        self.executions += 1
        self.overlaps += self._in_flight > 0
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        self._on_execution()

    def execution_ended(self) -> None:
        """Count an execution as done, however it ended."""
        self._in_flight = max(0, self._in_flight - 1)

    def as_json(self) -> str:
        """Return everything as one line of JSON."""
        return json.dumps(
            {
                "executions": self.executions,
                "overlaps": self.overlaps,
                "in_flight": self._in_flight,
                "max_in_flight": self.max_in_flight,
                "commands": dict(sorted(self.commands.items())),
                "broadcasts": self.broadcasts,
                "screenshots": self.screenshots,
            }
        )
