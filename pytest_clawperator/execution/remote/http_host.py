"""Requests to another host over HTTP, with every failure named."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_clawperator.contracts.text.wording import quote
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.execution.remote.address import checked_host
from pytest_clawperator.execution.remote.answers import LARGEST_ANSWER, HttpAnswer, unreadable

if TYPE_CHECKING:
    import httpx

#: The variable with the token that a host may ask for.
TOKEN_VARIABLE = "CLAWPERATOR_TOKEN"  # noqa: S105 - the name of a variable

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def open_host(url: str, *, connect_timeout: float, keep_alive: bool = False) -> HttpHost:
    """Return the host at a URL, checked; nothing is asked of it yet.

    ``keep_alive`` keeps the connection open between requests.
    """
    return HttpHost(
        url,
        name=checked_host(url),
        connect_timeout=connect_timeout,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        keep_alive=keep_alive,
    )


class HttpHost:
    """The other host: one request at a time, each answer bounded in time and size.

    ``name`` is the host's name in the URL, ``token`` what it may ask for.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        connect_timeout: float,
        token: str | None = None,
        keep_alive: bool = False,
    ) -> None:
        self.url = url.rstrip("/")
        self._connect_timeout = connect_timeout
        try:
            import httpx  # an extra, and slow to import
        except ImportError as exc:
            raise ConfigurationError(
                "another host is reached through the package httpx, which is not installed",
                code=ErrorCode.HOST_DEPENDENCY_MISSING,
                hint="pip install 'pytest-clawperator[remote]'",
            ) from exc
        self._client = httpx.Client(
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",
                **({"authorization": f"Bearer {token}"} if token else {}),
            },
            # The other host may close an idle connection just when it is used again.
            limits=httpx.Limits(max_keepalive_connections=1 if keep_alive else 0),
            # This machine's loopback is not the proxy's.
            trust_env=name.lower() not in _LOOPBACK,
            # Reading the certificates takes longer than a request, and plain HTTP needs none.
            verify=self.url.lower().startswith("https:"),
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def ask(
        self, method: str, path: str, *, timeout: float, body: bytes | None = None
    ) -> HttpAnswer:
        """Send a request and return the whole answer."""
        request = f"{method} {self.url}{path}"
        deadline = time.monotonic() + timeout
        if self._client.is_closed:
            raise _unreachable(f"{request} was not sent: the client is closed", "Connect again.")
        import httpx

        headers = {"content-type": "application/json"} if body is not None else None
        with self._errors_mapped(request, timeout):
            limits = httpx.Timeout(timeout, connect=self._connect_timeout)
            with self._client.stream(
                method, self.url + path, content=body, headers=headers, timeout=limits
            ) as response:
                return _read(response, request, deadline)

    @contextmanager
    def _errors_mapped(self, request: str, timeout: float) -> Iterator[None]:
        import httpx

        start_it = "Start it there with `clawperator serve --host 0.0.0.0`, or correct the URL."
        try:
            yield
        except httpx.ConnectTimeout as exc:
            found = f"{self.url} takes no connection within {self._connect_timeout:g} s"
            raise _unreachable(found, start_it) from exc
        except httpx.ConnectError as exc:
            raise _unreachable(f"nothing answers at {self.url}: {exc}", start_it) from exc
        except (httpx.TimeoutException, TimeoutError) as exc:
            raise TransportTimeoutError(
                f"{request} was not answered within {timeout:g} s",
                hint="The other host or its adb may be stuck: see the output of `clawperator "
                "serve` there. The device may still be acting.",
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            found = f"{request} got no HTTP answer: {str(exc) or type(exc).__name__}"
            hint = "Something else listens there, or the other host died meanwhile: look there."
            raise _unreachable(found, hint) from exc


def _read(response: httpx.Response, request: str, deadline: float) -> HttpAnswer:
    """Return an answer with its body; raise for one too large, too slow, packed or redirected."""
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_raw():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            break
        if time.monotonic() > deadline:
            raise TimeoutError
    answer = HttpAnswer(
        request=request,
        status=response.status_code,
        content_type=response.headers.get("content-type", ""),
        body=b"".join(chunks),
    )
    if size > LARGEST_ANSWER:
        raise unreadable(answer, f"more than {LARGEST_ANSWER} bytes")
    if response.is_redirect:
        raise unreadable(answer, f"a redirect to {quote(response.headers['location'])}")
    packing = response.headers.get("content-encoding", "identity")
    if packing != "identity":
        raise unreadable(answer, f"a body packed with {quote(packing)}, which was not asked for")
    return answer


def _unreachable(message: str, hint: str) -> TransportError:
    return TransportError(message, code=ErrorCode.REMOTE_HOST_UNREACHABLE, hint=hint)
