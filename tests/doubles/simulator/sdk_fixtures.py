"""One running SDK for the tests of a folder; each test finds it as new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles.simulator.sdk_bench import SdkBench, running_sdk


@pytest.fixture(scope="session")
def sdk_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkBench]:
    """Run an SDK."""
    with running_sdk(tmp_path_factory.mktemp("sdk")) as bench:
        yield bench


@pytest.fixture
def bench(sdk_of_session: SdkBench) -> Iterator[SdkBench]:
    """Give the SDK, and leave no emulator behind."""
    yield sdk_of_session
    sdk_of_session.clean()
