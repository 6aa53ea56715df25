"""System properties."""

from __future__ import annotations

import random

import pytest

from pytest_clawperator.simulator.android.properties import Build, Properties


def properties(**changes: object) -> Properties:
    """Make the properties of a phone."""
    build = {
        "serial": "S1",
        "model": "Pixel 9",
        "api": 36,
        "density": 420,
        "locale": "en-US",
        **changes,
    }
    return Properties(Build(**build), rng=random.Random(0), clock=lambda: 0.0)  # type: ignore[arg-type]  # words of any test


class TestProperties:
    """What a phone says of itself."""

    @pytest.mark.parametrize(("api", "release"), [(36, "16"), (31, "12"), (26, "8.0.0")])
    def test_version_and_api_level_belong_together(self, api: int, release: str) -> None:
        """Version and API level belong together."""
        made = properties(api=api)

        assert made.get("ro.build.version.sdk") == str(api)
        assert made.get("ro.build.version.release") == release

    def test_an_emulator_names_itself(self) -> None:
        """An emulator says that it is one, and its name."""
        made = properties(avd_name="pixel")

        assert made.get("ro.kernel.qemu") == "1"
        assert made.get("ro.boot.qemu.avd_name") == "pixel"
        assert properties().get("ro.kernel.qemu") == ""

    def test_an_emulators_model_decides_its_abi(self) -> None:
        """An emulator's model tells what its processor runs."""
        made = properties(avd_name="pixel", model="sdk_gphone64_x86_64")

        assert made.get("ro.product.cpu.abi") == "x86_64"
        assert made.get("ro.product.name") == "sdk_gphone64_x86_64"
        assert properties().get("ro.product.cpu.abi") == "arm64-v8a"

    def test_the_banner_has_name_model_and_device(self) -> None:
        """The host is reported name, model and device."""
        assert properties().banner() == (
            "ro.product.name=tokay;ro.product.model=Pixel 9;ro.product.device=tokay;"
        )

    def test_the_same_seed_gives_the_same_properties(self) -> None:
        """The same seed makes the same phone."""
        assert properties().items() == properties().items()
