"""Which component takes an intent."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import OPERATOR, Phone


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

    def test_activities_and_receivers_are_queried(self) -> None:
        """Everything with an icon, and the Operator's receiver, can be listed."""
        phone = Phone()

        activities = phone.out(
            "pm query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
        )
        receivers = phone.out("pm query-receivers -a app.clawperator.operator.ACTION_AGENT_COMMAND")

        assert f"{OPERATOR}/clawperator.activity.MainActivity" in activities
        assert receivers.startswith("1 receivers found:\n")
