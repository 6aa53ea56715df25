"""The arguments of ``screenrecord``."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.android.programs.screenrecord_options import (
    Request,
    parse_request,
)
from tests.doubles.simulator.android_phone import Phone

SMALL: dict[str, Any] = {"size": (200, 400), "density": 100}


@pytest.fixture(scope="module")
def phone() -> Phone:
    """Return a phone that records nothing."""
    return Phone(**SMALL)


class TestOptions:
    """How it is asked."""

    def test_the_default_is_three_minutes_at_the_screens_size(self) -> None:
        """Three minutes, at the screen's own size."""
        request = parse_request(["/sdcard/a.mp4"])

        assert request == Request("/sdcard/a.mp4", 180, None, 20_000_000, False)

    def test_options_may_stand_before_or_after_the_file(self) -> None:
        """Options stand before or after the file, with their values in either form."""
        words = "--size 720x1280 --bit-rate=4M a --time-limit 9 --verbose"

        request = parse_request(words.split())

        assert request == Request("a", 9, (720, 1280), 4_000_000, True)

    @pytest.mark.parametrize(
        ("words", "status", "message"),
        [
            ("", 2, "Must specify output file (see --help)."),
            ("a b", 2, "Must specify output file (see --help)."),
            ("--time-limit 181 a", 2, "Time limit 181s outside acceptable range [1,180]"),
            ("--time-limit soon a", 2, "Time limit 0s outside acceptable range [1,180]"),
            ("--size big a", 2, "Invalid size 'big', must be width x height"),
            ("--size 0x9 a", 2, "Invalid size 0x9, width and height may not be zero"),
            ("--size 9999x9 a", 234, "ERROR: unable to configure video/mjpeg codec at 9999x9"),
            ("--bit-rate much a", 2, "Unrecognized value: much"),
            ("--bit-rate 5 a", 2, "Bit rate 5bps outside acceptable range [100000,200000000]"),
            ("--sound a", 2, "screenrecord: unknown option -- sound"),
            ("-v a", 2, "screenrecord: unknown option -- v"),
            ("--size", 2, "screenrecord: option requires an argument -- size"),
            ("--help", 0, "Usage: screenrecord [options] <filename>"),
            ("/nowhere/a.mp4", 1, "Unable to open '/nowhere/a.mp4': No such file or directory"),
        ],
    )
    def test_invalid_options_are_refused(
        self, phone: Phone, words: str, status: int, message: str
    ) -> None:
        """What is invalid is reported, and nothing is recorded."""
        ended = phone.run(f"screenrecord {words}")

        assert (ended.status, ended.out) == (status, "")
        assert ended.err.startswith(message)
