"""Opening and closing apps and links."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["open", "com.android.settings"], "open_app"),
        (["action", "open-app", "--app", "com.android.settings"], "open_app"),
        (["close", "com.android.settings"], "close_app"),
        (["close-app", "--package", "com.android.settings"], "close_app"),
    ],
)
def test_apps_are_opened_and_closed(argv: list[str], kind: str, cli: Cli) -> None:
    """Under each spelling, by argument and by option."""
    printed = cli(*argv)

    assert (printed.code, printed.step["actionType"]) == (0, kind)


def test_a_link_is_opened_as_one(cli: Cli) -> None:
    """What has a scheme is no package."""
    assert cli("open", "https://example.com").step["actionType"] == "open_uri"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["open"], "MISSING_ARGUMENT"),
        (["open", "a", "--app", "b"], "EXECUTION_VALIDATION_FAILED"),
        (["close", ""], "MISSING_ARGUMENT"),
    ],
)
def test_a_target_is_required_once(argv: list[str], code: str, cli: Cli) -> None:
    """Neither none nor two."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)
