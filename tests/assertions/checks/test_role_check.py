"""Roles that no snapshot has are refused."""

from __future__ import annotations

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ConfigurationError
from tests.doubles.expecting import FORM, assertions
from tests.doubles.runner import Phone, client


def test_a_role_that_only_the_device_knows_is_refused() -> None:
    """A locator by a role that snapshots do not have would never find a node."""
    with pytest.raises(ConfigurationError, match="does not show which nodes are"):
        assertions({"role": "listitem"})


def test_a_title_is_looked_for_in_its_toolbar() -> None:
    """Outlines have titles, and the error says how to match one."""
    with pytest.raises(ConfigurationError, match="a text in a toolbar"):
        assertions({"role": "title"})


@pytest.mark.parametrize(
    ("role", "told"), [("swich", "Did you mean switch"), ("listitem", "does not show")]
)
def test_roles_are_checked_in_every_part_of_a_locator(role: str, told: str) -> None:
    """A wrong role is refused in a container and in has= too."""
    claw = client(Phone(FORM))
    locators = [
        claw.node(role=role),
        claw.node(role=role).node(text="Pay"),
        claw.node(id="row", has=claw.node(role=role)),
    ]

    for locator in locators:
        with pytest.raises(ConfigurationError, match=told):
            Expect()(locator).not_to_be_visible()
