"""Which component takes an intent."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


class TestResolve:
    """Resolving and querying."""

    def test_the_activity_behind_an_icon_is_resolved(self) -> None:
        """The activity behind a package's icon can be asked for."""
        out = Phone().out("cmd package resolve-activity --brief com.android.settings")

        assert out.splitlines()[1] == "com.android.settings/.Settings"

    def test_resolve_a_link(self) -> None:
        """The app that takes a link can be asked for."""
        view = "-a android.intent.action.VIEW"

        out = Phone().out(f"cmd package resolve-activity --brief {view} -d shop://cart")

        assert out.splitlines()[1].startswith("com.example.shop/")

    def test_an_intent_for_nobody_resolves_to_nothing(self) -> None:
        """Where there is none, that is what it says, and it is no failure."""
        assert Phone().out("cmd package resolve-activity --brief com.nope") == (
            "No activity found\n"
        )
