"""Whether a device answers at all, asked with a short question and remembered.

A device may freeze in the middle of anything. Whoever then waits for it, for a line of the log
or for the end of a command, does not wait to the end: after some silence the device is asked a
short question. One that does not answer is not waited for again by those who come next: until
it has answered, it is asked only for an instant before it is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pytest_clawperator.errors import TransportTimeoutError

#: After so many seconds without a sign of life a device is asked whether it is there.
QUIET = 2.0
#: How long a healthy device may take to answer that, or to begin with a command.
ANSWER_WITHIN = 5.0
#: How long one may take that did not answer before, and for how long that is not asked again.
AGAIN_WITHIN = 1.0


class Liveness:
    """What is known of whether a device answers.

    ``ask`` asks it a short question, and raises ``TransportTimeoutError`` if no answer comes
    within the seconds it is given. A device ``is_in_doubt`` when something did not end in time,
    which may be the fault of a command or of the device: it is to be asked before its next use.
    """

    def __init__(
        self,
        ask: Callable[[float], None],
        *,
        serial: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._serial = serial
        self._clock = clock
        self.is_in_doubt = False
        self._silent_since: float | None = None
        self._asked_at = 0.0

    def prove(self) -> None:
        """Ask the device now; raise ``TransportTimeoutError`` if it does not answer."""
        begin, silent_since = self._clock(), self._silent_since
        if silent_since is not None and begin < self._asked_at + AGAIN_WITHIN:
            raise self._silent(begin - silent_since)
        try:
            self._ask(ANSWER_WITHIN if silent_since is None else AGAIN_WITHIN)
        except TransportTimeoutError as error:
            raise self._silent(self.note_silence(begin)) from error
        self.is_in_doubt, self._silent_since = False, None

    def note_silence(self, since: float) -> float:
        """Take note that the device has not answered since; return for how many seconds."""
        self.is_in_doubt, self._asked_at = True, self._clock()
        if self._silent_since is None:
            self._silent_since = since
        return self._asked_at - self._silent_since

    def _silent(self, seconds: float) -> TransportTimeoutError:
        return TransportTimeoutError(
            f"the device does not answer, and has not for {seconds:.0f} s",
            serial=self._serial,
            hint="See that the device is awake and responsive; connect it anew, or restart it.",
        )
