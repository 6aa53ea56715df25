"""``dumpsys package``."""

from __future__ import annotations

import re

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone


class TestPackage:
    """``dumpsys package``."""

    @pytest.mark.parametrize(
        ("variant", "name", "version"),
        [("release", OPERATOR, "0.5.3"), ("dev", f"{OPERATOR}.dev", "0.5.3-d")],
    )
    def test_the_version_lines_are_those_the_host_reads(
        self, variant: str, name: str, version: str
    ) -> None:
        """The Operator's version stands in the lines that the host program reads."""
        out = Phone(operator=variant).out(f"dumpsys package {name}")

        assert "    versionCode=503900 minSdk=21 targetSdk=35\n" in out
        assert re.findall(r"^\s*versionName=(.+)$", out, re.MULTILINE) == [version]

    def test_signatures_flags_times_and_permissions_are_printed(self) -> None:
        """Signatures, flags, times and permissions are where tools expect them."""
        out = Phone().out(f"dumpsys package {OPERATOR}")

        assert f"  Package [{OPERATOR}] (" in out
        assert re.search(r"PackageSignatures\{\w+ version:2, signatures:\[\w{8}\]", out)
        assert re.search(r"firstInstallTime=2025-10-09 \d\d:\d\d:\d\d\n", out)
        assert "pkgFlags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP ]" in out
        assert "android.permission.INTERNET: granted=true\n" in out

    def test_a_missing_package_is_reported_with_status_0(self) -> None:
        """A package that is not there is reported, and that is no failure."""
        assert Phone().out("dumpsys package com.nope") == "Unable to find package: com.nope\n"

    def test_without_a_name_every_package_is_printed(self) -> None:
        """Without a name every package is reported."""
        out = Phone().out("dumpsys package")

        assert out.count("  Package [") == len(Phone().out("pm list packages").splitlines())
