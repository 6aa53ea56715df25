"""Keys by name and by number."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.device.keys import key_code
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.input import KEY_CODES


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("enter", "KEYCODE_ENTER"),
        ("KEYCODE_ENTER", "KEYCODE_ENTER"),
        (" volume up ", "KEYCODE_VOLUME_UP"),
        ("app-switch", "KEYCODE_APP_SWITCH"),
        ("5", "KEYCODE_5"),
        (66, "66"),
        (0, "0"),
    ],
)
def test_the_ways_to_write_a_key(key: str | int, sent: str) -> None:
    """Names are taken with and without prefix, in any case; numbers as they are."""
    assert key_code(key) == sent


@pytest.mark.parametrize("key", ["", "entr", "KEYCODE_", "enter; reboot", -1, 99_999, True])
def test_no_such_key(key: str | int) -> None:
    """A key that no device has is refused here, because a device would ignore it."""
    with pytest.raises(ConfigurationError, match="there is no key"):
        key_code(key)


def test_a_near_name_is_suggested() -> None:
    """A mistyped name is answered with the one that was probably meant."""
    with pytest.raises(ConfigurationError) as caught:
        key_code("volum_up")

    assert "Did you mean 'volume_up'?" in str(caught.value)


def test_every_key_that_the_simulated_phone_knows() -> None:
    """The two tables of names, made apart, agree."""
    for name in KEY_CODES:
        assert key_code(name) == f"KEYCODE_{name}"
