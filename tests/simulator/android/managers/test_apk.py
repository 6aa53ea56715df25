"""What an APK is taken for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.package_manager import InstallFailed, install_apk
from tests.doubles.simulator.android_phone import Phone
from tests.simulator.android.apks import app_apk


@settings(max_examples=150, deadline=None)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=12), at=st.integers(0, 400))
def test_a_broken_apk_is_refused_or_installed_but_never_crashes(
    cut: int, junk: bytes, at: int
) -> None:
    """A broken APK is refused, never more than that."""
    apk = app_apk()
    broken = (apk[:at] + junk + apk[at + len(junk) :])[: len(apk) - cut % 40]

    try:
        install_apk(Phone().system, broken, file_name="a.apk")
    except InstallFailed as failure:
        refusal = str(failure)
    else:
        refusal = "INSTALL_SUCCEEDED"

    assert refusal.startswith("INSTALL_")
