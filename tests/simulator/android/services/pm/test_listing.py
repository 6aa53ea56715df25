"""``pm list``."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone

CONFORMANCE = "com.clawperator.conformance"


class TestList:
    """Listing packages."""

    def test_the_filter_is_any_part_of_the_name(self) -> None:
        """The filter is any part of the name."""
        out = Phone().out("pm list packages clawperator.oper")

        assert out == f"package:{OPERATOR}\n"

    def test_a_filter_for_the_release_build_also_finds_the_debug_build(self) -> None:
        """The name of the release build is part of the debug build's."""
        assert Phone(operator="dev").out(f"pm list packages {OPERATOR}") == (
            f"package:{OPERATOR}.dev\n"
        )

    def test_no_match_prints_nothing_and_succeeds(self) -> None:
        """No match is silence and success."""
        assert Phone().out("pm list packages com.nope") == ""

    def test_third_party_and_system(self) -> None:
        """Every package is the user's or the system's."""
        phone = Phone()

        users = phone.out("pm list packages -3").splitlines()
        system = phone.out("pm list packages -s").splitlines()

        assert f"package:{OPERATOR}" in users
        assert "package:com.android.settings" in system
        assert sorted(users + system) == sorted(phone.out("pm list packages").splitlines())

    def test_more_about_each(self) -> None:
        """File, version and user can be told with the name."""
        out = Phone().out(f"pm list packages -f -U --show-versioncode {OPERATOR}")

        assert out.startswith("package:/data/app/~~")
        assert f"/base.apk={OPERATOR} versionCode:503900 uid:102" in out

    @pytest.mark.parametrize(
        ("arguments", "answer"),
        [
            ("packages -z", "Error: Unknown option: -z\n"),
            ("", "Error: didn't specify type of data to list\n"),
            ("birds", "Error: unknown list type 'birds'\n"),
        ],
    )
    def test_an_unknown_option_is_reported_with_status_255(
        self, arguments: str, answer: str
    ) -> None:
        """A mistake is reported on the standard output, with status 255."""
        assert Phone().run(f"pm list {arguments}") == (255, answer, "")
