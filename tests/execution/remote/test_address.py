"""The address of another host is a scheme, a host and a port, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.remote.http import checked_host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://lab-3:3000", "lab-3"),
        ("HTTPS://lab.example.com/", "lab.example.com"),
        ("http://[::1]:3000", "[::1]"),
    ],
)
def test_the_hosts_name_is_taken_from_the_url(url: str, host: str) -> None:
    """Names and addresses are accepted, with and without a port."""
    assert checked_host(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:3000",
        "127.0.0.1",
        "file:///etc/passwd",
        "ftp://host:3000",
        "http://",
        "http://:3000",
        "http://host:0",
        "http://host:65536",
        "http://host:port",
        "http://host:3000/api",
        "http://host:3000?x=1",
        "http://host:3000#x",
        "http://a..b:3000",
        "http://ho st:3000",
        "http://host:3000\n",
        "http://host\\evil:3000",
        "http://[::1",
        "http://[:::]:3000",
        "http://h\u00f6st:3000",
        "http://host:\u0663000",
        None,
        b"http://host:3000",
    ],
)
def test_a_url_with_more_than_host_and_port_is_refused(url: Any) -> None:
    """Anything but a scheme, a host and a port is refused with an example."""
    with pytest.raises(ConfigurationError, match="http:// or https://") as caught:
        checked_host(url)

    assert "http://127.0.0.1:3000" in (caught.value.hint or "")


def test_a_password_is_not_repeated() -> None:
    """A URL with credentials is refused without printing them."""
    with pytest.raises(ConfigurationError, match="after a user name") as caught:
        checked_host("http://user:hunter2@host:3000")

    assert "hunter2" not in str(caught.value)
