"""``bugreportz``."""

from __future__ import annotations

import io
import zipfile

import pytest

from tests.doubles.simulator.android_phone import Phone


def test_the_version_is_on_the_standard_error() -> None:
    """It is what adb looks for there."""
    ended = Phone().run("bugreportz -v")

    assert (ended.status, ended.out, ended.err) == (0, "", "1.2\n")


@pytest.mark.parametrize(("options", "first"), [("", "OK:"), ("-p", "BEGIN:")])
def test_a_report_has_properties_log_and_services(options: str, first: str) -> None:
    """The last line tells where the zip is, whose main file is named in it."""
    phone = Phone()
    phone.out("log -t Guest hello")

    lines = phone.out(f"bugreportz {options}").splitlines()
    report = phone.device.files.read(lines[-1].removeprefix("OK:"))
    with zipfile.ZipFile(io.BytesIO(report)) as archive:
        text = archive.read(archive.read("main_entry.txt").decode()).decode()

    assert lines[0].startswith(first)
    assert "[ro.product.model]: [" in text
    assert "I Guest   : hello\n" in text
    assert "DUMP OF SERVICE battery:\n" in text


def test_other_options_are_refused() -> None:
    """What it cannot do is told with its usage."""
    ended = Phone().run("bugreportz -x")

    assert ended.status == 1
    assert ended.err.startswith("usage: bugreportz")


def test_a_full_storage_is_told() -> None:
    """A report that cannot be written is a failure."""
    phone = Phone()
    phone.out("bugreportz; sim fault storage_full")

    ended = phone.run("bugreportz")

    assert ended.status == 1
    assert ended.out.startswith("FAIL:")
