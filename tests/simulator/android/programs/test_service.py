"""``service``: which of Android's services there are."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


@pytest.mark.parametrize(("name", "found"), [("package", "found"), ("birds", "not found")])
def test_a_service_is_there_or_not(name: str, found: str) -> None:
    """The answer is in the text, the status tells nothing."""
    assert Phone().out(f"service check {name}") == f"Service {name}: {found}\n"


def test_services_are_listed_with_their_number() -> None:
    """As many rows as the first line says."""
    first, *rows = Phone().out("service list").splitlines()

    assert first == f"Found {len(rows)} services:"
    assert any(row.endswith("\twindow: []") for row in rows)


def test_no_service_is_there_while_it_boots() -> None:
    """Scripts wait so for the package manager."""
    phone = Phone()
    phone.device.faults.set("booting")

    assert phone.out("service check package") == "Service package: not found\n"


def test_an_unknown_word_gets_the_usage_and_fails() -> None:
    """What is not supported is told."""
    ended = Phone().run("service call activity 1")

    assert ended.status == 10
    assert "Unknown command call activity 1" in ended.err
