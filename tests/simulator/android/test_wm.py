"""``wm``: size, density and rotation."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


class TestWm:
    """Size and density."""

    def test_the_panels_size_and_density_are_printed(self) -> None:
        """The panel's own size and density are reported."""
        phone = Phone(size=(720, 1600), density=320)

        assert phone.out("wm size") == "Physical size: 720x1600\n"
        assert phone.out("wm density") == "Physical density: 320\n"

    def test_an_override_changes_the_screen_until_reset(self) -> None:
        """An override is reported beside it, changes the screen, and can be taken back."""
        phone = Phone()

        phone.out("wm size 720x1280; wm density 240")
        assert phone.out("wm size") == "Physical size: 1080x2400\nOverride size: 720x1280\n"
        assert phone.out("wm density") == "Physical density: 420\nOverride density: 240\n"
        assert phone.device.ui.display.size == (720, 1280)

        phone.out("wm size reset; wm density reset")
        assert phone.out("wm size; wm density") == (
            "Physical size: 1080x2400\nPhysical density: 420\n"
        )
        assert phone.device.ui.display.size == (1080, 2400)

    def test_an_override_stays_between_200_pixels_and_twice_the_panel(self) -> None:
        """An override stays between 200 pixels and twice the panel."""
        phone = Phone()

        phone.out("wm size 1x999999")

        assert phone.device.ui.display.size == (200, 4800)

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("size big", "Error: bad size big\n"),
            (
                "size axb",
                'Error: bad number java.lang.NumberFormatException: For input string: "a"\n',
            ),
            ("density 5", "Error: density must be >= 72\n"),
            ("user-rotation up", "Error: argument needs to be either -d, free or lock.\n"),
        ],
    )
    def test_invalid_sizes_and_densities_are_reported(self, arguments: str, complaint: str) -> None:
        """A mistake is reported, with status 255."""
        assert Phone().run(f"wm {arguments}") == (255, "", complaint)

    def test_user_rotation_turns_the_screen(self) -> None:
        """The screen can be turned."""
        phone = Phone()

        phone.out("wm user-rotation lock 3")

        assert phone.out("wm user-rotation") == "lock 3\n"
        assert phone.device.ui.display.rotation == 3
