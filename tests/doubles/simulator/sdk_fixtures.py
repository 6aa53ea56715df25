"""One running SDK for the tests of a folder; each test finds it as new."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pytest_clawperator.emulators import claims
from tests.doubles.simulator.sdk_bench import SdkBench, running_sdk


@pytest.fixture(scope="session")
def sdk_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkBench]:
    """Run an SDK."""
    with running_sdk(tmp_path_factory.mktemp("sdk")) as bench:
        yield bench


@pytest.fixture
def bench(sdk_of_session: SdkBench, monkeypatch: pytest.MonkeyPatch) -> Iterator[SdkBench]:
    """Give the SDK, and leave no emulator behind."""
    # The adb server of another SDK calls for a minute where an emulator of it was.
    monkeypatch.setattr(claims, "FIRST_PORT", claims.FIRST_PORT + 8 * (os.getpid() % 15))
    yield sdk_of_session
    sdk_of_session.clean()
