"""Where a screen shows secrets."""

from __future__ import annotations

from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.secret_places import secret_places
from tests.snapshot.screens import node, screen


def test_password_fields_and_texts_with_secrets() -> None:
    """Fields for passwords, and nodes whose text or description holds a secret, are found."""
    SECRETS.add("hunter2")
    SECRETS.add("007")

    places = secret_places(
        screen(
            node(text="••", password=True, bounds="[0,0][1,1]"),
            node(text="It is hunter2!", bounds="[0,0][2,2]"),
            node(desc="hunter2", bounds="[0,0][3,3]"),
            node(text="007", bounds="[0,0][4,4]"),
            node(text="Welcome to 10077", bounds="[0,0][5,5]"),
        )
    )

    assert places == [Bounds(0, 0, size, size) for size in (1, 2, 3, 4)]
