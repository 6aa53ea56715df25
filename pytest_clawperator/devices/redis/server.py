"""The Redis server that keeps the leases, and how errors of redis-py are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_clawperator.devices.redis.terms import Names
from pytest_clawperator.errors import ConfigurationError, ErrorCode, LeaseError

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import LockError, RedisError, ResponseError
    from redis.retry import Retry
except ImportError:  # an extra
    redis = None  # type: ignore[assignment]  # a module elsewhere; `_require_redis` asks

if TYPE_CHECKING:
    from redis.lock import Lock

# How long an answer of Redis may take; several fit into the time to live.
_ANSWER_WITHIN = 2.0


class NoAnswer(Exception):
    """Redis did not answer, or refused what was asked of it."""


class Server:
    """A Redis server; ``ttl`` is how many seconds a lock lives there unless it is renewed."""

    def __init__(self, url: str, ttl: float) -> None:
        _require_redis()
        self.ttl = ttl
        parts = urlsplit(url)
        # What stands before an @ may be a password, and messages travel far.
        self._shown = f"Redis at {parts.netloc.rpartition('@')[2] or parts.path}"
        patience = min(_ANSWER_WITHIN, ttl / 4)
        self._client: Any = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=patience,
            socket_connect_timeout=patience,
            # A connection may be older than the server.
            retry=Retry(NoBackoff(), 1, (RedisConnectionError,)),
        )

    def __str__(self) -> str:
        return self._shown

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Yield the client of redis-py; its errors are raised as ``NoAnswer``."""
        try:
            yield self._client
        except RedisError as exc:
            raise NoAnswer(str(exc)) from exc

    @contextmanager
    def answering(self) -> Iterator[Any]:
        """Yield the client; its errors are raised as ``LeaseError``."""
        try:
            yield self._client
        except (NoAnswer, RedisError) as exc:
            raise LeaseError(
                f"{self} keeps the leases and does not work: {exc}",
                code=ErrorCode.REMOTE_HOST_UNREACHABLE,
                hint="Start it, or correct the url; its user must be allowed to read and write"
                " keys that begin with `clawperator:`, and to run scripts.",
            ) from exc

    def run(self, script: str, names: Names, *arguments: str | int) -> Any:
        """Run a Lua script on the keys of a device."""
        with self.client() as client:
            return client.eval(script, len(names), *names, *arguments)

    def renew(self, lock: Lock) -> bool:
        """Let a lock live for another ``ttl`` seconds; False if it is no longer there."""
        with self.client():
            try:
                lock.reacquire()
            except LockError:
                return False
            return True

    def release(self, lock: Lock) -> None:
        """Release a lock; a Redis that does not answer forgets it by itself."""
        with suppress(RedisError):
            lock.release()

    def about(self) -> dict[str, Any]:
        """Return what the server says of itself; nothing if it refuses."""
        with self.client() as client:
            try:
                told: dict[str, Any] = client.info("server")
            except ResponseError:
                return {}
            return told

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _require_redis() -> None:
    if redis is None:
        raise ConfigurationError(
            "leases in a Redis need the package redis, which is not installed",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[redis]'",
        )
