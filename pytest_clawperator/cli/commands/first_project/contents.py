"""What is in the first files of a project."""

from __future__ import annotations

import json
from typing import Literal

Ci = Literal["github", "gitlab", "none"]

_TEST = '''"""The first test: the Settings tell which Android they belong to.

Run it with `pytest`. Add `--claw-device sim` for a simulated phone, or
`--claw-device auto` for one that is connected.
"""

from __future__ import annotations

from pytest_clawperator import Clawperator, expect


def test_the_settings_tell_the_version_of_android(settings: Clawperator) -> None:
    """The page about the phone has a version that begins with a number."""
    settings.scroll_and_click(text_contains="About phone", max_scrolls=25)

    expect(settings.node(text="Android version")).to_be_visible()
    assert int(settings.read_value("Android version").split(".")[0]) >= 5
'''
FIXTURE = '''import pytest
from pytest_clawperator import Clawperator

SETTINGS = "com.android.settings"


@pytest.fixture
def settings(clawperator: Clawperator) -> Clawperator:
    """Return the client with the Settings in front, as they are after their start."""
    clawperator.close_app(SETTINGS)
    clawperator.open_app(SETTINGS)
    return clawperator
'''
_CONFTEST = f'''"""What all tests of this project share."""

from __future__ import annotations

{FIXTURE}'''
_INI = """[pytest]
testpaths = tests
# Which devices the tests use: `sim` is simulated phones, `auto` those that are connected.
# The command line comes first: pytest --claw-device auto
claw_device = {device}
"""
_GITHUB = """# UI tests on simulated phones: no emulator, no Android SDK.
name: UI tests

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  simulated:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - run: pip install "pytest-clawperator[xdist]"
      # As many phones as the machine has cores.
      - run: pytest -n auto --claw-device sim --junitxml=report.xml
      # What is kept of failed tests: screenshots, the screen as XML, logs.
      - uses: actions/upload-artifact@v6
        if: ${{ !cancelled() }}
        with:
          name: ui-tests
          path: |
            report.xml
            claw-results/
"""
_GITLAB_JOB = """# UI tests on simulated phones: no emulator, no Android SDK.
ui-tests:
  image: python:3.13-bookworm
  timeout: 15m
  before_script:
    - pip install "pytest-clawperator[xdist]"
  script:
    # As many phones as the machine has cores.
    - pytest -n auto --claw-device sim --junitxml=report.xml
  artifacts:
    # What is kept of failed tests: screenshots, the screen as XML, logs.
    when: always
    expire_in: 2 weeks
    paths: [claw-results/]
    reports:
      junit: report.xml
"""

TEST_PATH, CONFTEST_PATH, INI_PATH = "tests/test_first.py", "tests/conftest.py", "pytest.ini"
_CI_FILES: dict[str, tuple[str, str]] = {
    "github": (".github/workflows/ui-tests.yml", _GITHUB),
    "gitlab": (".gitlab-ci.yml", _GITLAB_JOB),
}


def first_files(*, device: str, ci: Ci) -> dict[str, str]:
    """Return the content of each file by its path."""
    files = {TEST_PATH: _TEST, CONFTEST_PATH: _CONFTEST, INI_PATH: _INI.format(device=device)}
    if ci != "none":
        path, content = _CI_FILES[ci]
        files[path] = content
    return files


def setting(device: str, file: str) -> str:
    """Return the line that chooses the device, as the file with pytest's configuration has it."""
    return f"claw_device = {json.dumps([device]) if file.endswith('.toml') else device}"
