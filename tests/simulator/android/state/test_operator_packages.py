"""The Operator's two packages."""

from __future__ import annotations

import random

from pytest_clawperator.simulator.android.packages import OPERATOR, OPERATOR_DEV, operator_package


class TestOperator:
    """The Operator's two builds."""

    def test_the_release_build_has_the_published_version(self) -> None:
        """The release build has the published version."""
        made = operator_package(OPERATOR, app_id=1, rng=random.Random(0), now=0, set_up=True)

        assert (made.version_name, made.version_code) == ("0.5.3", 503900)
        assert (made.min_sdk, made.target_sdk, made.stopped) == (21, 35, False)
        assert made.launcher == "clawperator.activity.MainActivity"

    def test_the_debug_build_has_a_version_suffix(self) -> None:
        """The debug build's version name tells it."""
        made = operator_package(OPERATOR_DEV, app_id=1, rng=random.Random(0), now=0, set_up=False)

        assert (made.version_name, made.version_code) == ("0.5.3-d", 503900)
        assert made.stopped
