"""The right to use a device that is leased in Redis, confirmed there before each command."""

from __future__ import annotations

from time import sleep

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.redis import lease_clock
from pytest_clawperator.devices.redis.server import NoAnswer, Server
from pytest_clawperator.devices.redis.terms import Terms
from pytest_clawperator.errors import LeaseError

# A part of the time to live in which a holder no longer sends, for what is on its way.
_SAFETY = 0.05
# How often Redis is asked again while a lease is in doubt: one that is away tells nothing.
_PAUSE = 0.1
_NEVER = float("-inf")

# Returns who has the lock, the number of the newest holder and the milliseconds that the lock
# still lives; records the command if the caller has the lock.
_CONFIRM = """
local held, number = redis.call('get', KEYS[1]), redis.call('get', KEYS[2])
if held == ARGV[1] and number == ARGV[2] and ARGV[3] ~= '' then
    redis.call('set', KEYS[3], ARGV[3], 'px', ARGV[4])
end
return {held or '', number or '', redis.call('pttl', KEYS[1])}
"""


class RedisPermit:
    """The right to use a device, as Redis confirms it.

    A lease is in doubt while Redis does not answer, and when Redis came back and has forgotten
    it. While Redis does not answer, this machine's clock decides; ``valid_until`` is what is
    known of the lease at first. A lease that is in doubt and no longer valid by the clock is
    waited for, at most for the time to live: the holder, whose lease may be valid for longer,
    restores it meanwhile if nobody else can have had the device.
    """

    def __init__(self, server: Server, terms: Terms, *, valid_until: float = 0.0) -> None:
        self.key = terms.key
        self._server = server
        self._terms = terms
        self._names = terms.names
        self._valid_until = valid_until
        self._in_doubt_since: float | None = None

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        self._confirm("", 0.0)

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command may be sent now, and record it."""
        self._confirm(command_id, seconds)

    def _confirm(self, command_id: str, seconds: float) -> None:
        """Ask Redis until it confirms the lease, or until it cannot be valid any more."""
        while not self._is_confirmed(command_id, seconds):
            sleep(_PAUSE)

    def _is_confirmed(self, command_id: str, seconds: float) -> bool:
        """Ask Redis once; False if the lease is in doubt, and Redis is to be asked again."""
        number, begin = self._terms.fencing, lease_clock.now()
        try:
            held, newest, left = self._server.run(
                _CONFIRM, self._names, self._terms.text, number, command_id, milliseconds(seconds)
            )
        except NoAnswer as error:
            return self._decide_alone(begin, error)
        if held not in ("", self._terms.text) or int(newest or 0) > number:
            self._end()
            raise self._invalid(self._lost_to(held))
        if held:
            self._prolong(begin, left / 1000)
            self._in_doubt_since = None
            return True
        # A server that knows the number did not forget the lock: that expired or was released.
        is_forgotten = int(newest or 0) < number
        self._wait_or_raise(begin, self._patience(begin) if is_forgotten else self._valid_until)
        return False

    def _decide_alone(self, begin: float, error: NoAnswer) -> bool:
        """Whether the lease is valid by this machine's clock, while Redis does not answer."""
        patience = self._patience(begin)
        if lease_clock.now() < self._valid_until:
            return True
        self._wait_or_raise(begin, patience, cause=error)
        return False

    def _patience(self, now: float) -> float:
        """Return until when a lease that is in doubt can be restored."""
        if self._in_doubt_since is None:
            self._in_doubt_since = now
        return self._in_doubt_since + self._server.ttl

    def _wait_or_raise(self, now: float, until: float, cause: NoAnswer | None = None) -> None:
        if now >= until:
            told = f"; it said: {cause}" if cause else ""
            raise self._invalid(f"{self._server} did not renew it in time{told}") from cause

    def _prolong(self, since: float, seconds: float) -> None:
        valid_until = since + seconds - self._server.ttl * _SAFETY
        self._valid_until = max(self._valid_until, valid_until)

    def _end(self) -> None:
        """Take note that the lease is lost, and stays lost when Redis answers no more."""
        self._valid_until, self._in_doubt_since = 0.0, _NEVER

    def _lost_to(self, held: str) -> str:
        if held in ("", self._terms.text):
            return "somebody else had it in between"
        return f"{Holder.from_json(held)} has it"

    def _invalid(self, why: str) -> LeaseError:
        return LeaseError(
            f"the device is no longer leased by this run: {why}",
            serial=self.key,
            hint="Nothing was sent. Check that this machine reaches Redis all the time, and that"
            " the process that had leased the device still runs; then start the run again.",
            details={"key": self.key, "fencing": self._terms.fencing},
        )


def milliseconds(seconds: float) -> int:
    """Return a time as Redis takes it."""
    return max(round(seconds * 1000), 1)
