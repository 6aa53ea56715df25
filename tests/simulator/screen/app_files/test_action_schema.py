"""What an app file may say about actions."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import screen_app


def test_one_action_needs_no_list() -> None:
    """A single action may stand alone, several form a list."""
    app = screen_app(
        """\
        - {button: A, on_tap: {back: true}}
        - {button: B, on_tap: [{toast: Hi}, {back: true}]}
        """
    )

    verbs = [[action.verb for action in item.on_tap] for item in app.screens["main"].items]
    assert verbs == [["back"], ["toast", "back"]]
