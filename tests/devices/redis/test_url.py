"""Urls of a Redis that can keep leases, and those that cannot be one."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.lease import check_redis_url
from pytest_clawperator.errors import ConfigurationError


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://", "it names no host"),
        ("redis:///0", "it names no host"),
        ("redis://:SECRET@/0", "it names no host"),
        ("redis://host:port/0", "its host or port cannot be read"),
        ("redis://[::1/0", "its host or port cannot be read"),
        ("redis://host:6379/abc", "its database is no number"),
        ("redis://host:6379/0/1", "its database is no number"),
        ("redis://host?db=abc", "its database is no number"),
        ("redis://host?foo=SECRET", "foo is unknown; known: db"),
        ("redis://host?password=SECRET", "password is unknown; known: db"),
        ("redis://host?socket_timeout=99", "socket_timeout is unknown; known: db"),
        ("redis://host?ssl_cert_reqs=none", "ssl_cert_reqs is unknown; known: db"),
        ("rediss://host?foo=1", "foo is unknown; known: db, ssl_ca_certs, "),
        ("unix://run/redis.sock", "a socket is named by its whole path"),
        ("unix://", "a socket is named by its whole path"),
        ("redis://:abc/SECRET@127.0.0.1:6399/0", "write %2F for a /"),
        ("redis://:abc#SECRET@127.0.0.1:6399/0", "%23 for a #"),
        ("redis://:abc?SECRET@127.0.0.1:6399/0", "%3F for a ?"),
        ("http://:SECRET@host", "it begins with none of redis://, rediss://, unix://"),
    ],
)
def test_a_url_that_cannot_keep_leases_is_refused(url: str, reason: str) -> None:
    """The error says what is wrong and what is allowed, and shows no password."""
    with pytest.raises(ConfigurationError) as caught:
        check_redis_url(url)

    assert reason in caught.value.message
    assert "is no place to keep leases: " in caught.value.message
    assert "Allowed: redis://host:6379/0" in (caught.value.hint or "")
    assert "SECRET" not in str(caught.value)
    assert "abc#" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://host",
        "redis://host/",
        "redis://[::1]:6379/0",
        "redis://ada:p%2Fw@host:6379/15",
        "redis://:p@w@host?db=2",
        "rediss://host?ssl_cert_reqs=none&ssl_ca_certs=/etc/ca.pem",
        "unix:///run/redis.sock",
        "unix://:pw@/run/redis.sock?db=3",
    ],
)
def test_a_url_that_redis_understands_is_taken(url: str) -> None:
    """Hosts, addresses, users, sockets, databases and TLS options are understood."""
    assert check_redis_url(url) == url
