"""Writing envelopes to the log, with the faults that lose, delay, cut or double them."""

from __future__ import annotations

import asyncio
import math

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer.envelope import Envelope
from pytest_clawperator.simulator.operator.answer.java_error import JavaError, ProcessDied
from pytest_clawperator.simulator.operator.answer.operator_log import OperatorLog, Source


class EnvelopeLog:
    """Logs the envelopes of one Operator."""

    def __init__(self, log: OperatorLog, faults: Faults) -> None:
        self._log = log
        self._faults = faults

    async def write(self, source: Source, envelope: Envelope) -> None:
        """Log an envelope as the faults have it; ProcessDied where the app crashes instead."""
        faults = self._faults
        if faults.take("operator_crash"):
            raise ProcessDied(JavaError("the Operator was told to crash"))
        if faults.take("no_envelope"):
            return
        late = faults.take("late_envelope")
        if late is not None:
            await asyncio.sleep(_milliseconds(late.options["ms"]) / 1000)
        other = faults.take("foreign_envelope")
        if other is not None:
            foreign = Envelope(command_id=other.options["command_id"], task_id="another-task")
            self._log.info(source, foreign.line())
        line = envelope.line()
        if faults.take("half_envelope"):
            line = line[: len(line) // 2]
        self._log.info(source, line)
        if faults.take("double_envelope"):
            self._log.info(source, line)


def _milliseconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return min(max(number, 0.0), 600_000.0) if math.isfinite(number) else 0.0
