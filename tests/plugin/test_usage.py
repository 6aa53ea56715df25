"""Whether a run uses devices: seen in its files, and not if pytest only lists something."""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.usage import needs_devices
from tests.plugin.conftest import Run

FIXTURE = "import pytest\n\n@pytest.fixture\ndef app(clawperator): return clawperator\n"


@pytest.mark.parametrize(
    "text",
    [
        "def test_it(clawperator): pass",
        "class TestIt:\n    def test_it(self, tmp_path, clawperator_devices): pass",
        "def test_it(\n    tmp_path,\n    clawperator: Clawperator,\n) -> None: pass",
        "async def test_it(clawperator): pass",
        "@pytest.mark.claw_app('com.example.shop')\ndef test_it(): pass",
        "pytestmark = pytest.mark.usefixtures('clawperator')",
        FIXTURE,
    ],
)
def test_fixtures_and_markers_are_found_in_text(pytester: pytest.Pytester, text: str) -> None:
    """Fixtures and markers are found however they are asked for."""
    pytester.makepyfile(test_it=text)

    config = pytester.parseconfig()

    assert needs_devices(config)


def test_a_test_without_python_counts(pytester: pytest.Pytester) -> None:
    """Even if nothing else in the project uses devices."""
    (pytester.path / "test_it.claw.yaml").write_text("steps: [home]", encoding="utf-8")

    assert needs_devices(pytester.parseconfig())


@pytest.mark.parametrize(
    "files",
    [
        {"test_it": "def test_it(tmp_path): pass"},
        {"test_it": "# clawperator is used elsewhere\nimport clawperator_tools"},
        {"helper": "def helper(clawperator): pass"},
        {"build/test_it": "def test_it(clawperator): pass"},
    ],
)
def test_words_alone_and_other_files_do_not_count(
    pytester: pytest.Pytester, files: dict[str, str]
) -> None:
    """Words alone, other files and folders where no tests are looked for do not count."""
    (pytester.path / "build").mkdir()
    pytester.makepyfile(**files)

    config = pytester.parseconfig()

    assert not needs_devices(config)


@pytest.mark.parametrize(
    "argument", ["", "tests", "tests/login", "tests/login/test_it.py", "tests/login/test_it.py::t"]
)
def test_a_conftest_above(pytester: pytest.Pytester, argument: str) -> None:
    """A conftest above the tests of a run counts, whatever part of the suite is run."""
    (pytester.path / "tests/login").mkdir(parents=True)
    pytester.makepyfile(
        **{"tests/conftest": FIXTURE, "tests/login/test_it": "def test_it(app): pass"}
    )
    pytester.makeini("[pytest]")

    config = pytester.parseconfig(*filter(None, [argument]))

    assert needs_devices(config)


def test_only_the_files_of_the_run_count(pytester: pytest.Pytester) -> None:
    """Only the files of the run count, and one that is not there does no harm."""
    pytester.makepyfile(test_device="def test_it(clawperator): pass", test_plain="")

    config = pytester.parseconfig("test_plain.py", "test_nowhere.py")

    assert not needs_devices(config)


@pytest.mark.parametrize(
    "conftest", ['pytest_plugins = ["pages.login"]', "from pages.login import app  # noqa"]
)
def test_fixtures_from_elsewhere(pytester: pytest.Pytester, conftest: str) -> None:
    """Fixtures count that a conftest has from other modules of the project."""
    (pytester.path / "pages").mkdir()
    pytester.makepyfile(**{"pages/__init__": "", "pages/login": FIXTURE, "conftest": conftest})
    pytester.makepyfile(test_it="def test_it(app): pass")
    pytester.makeini("[pytest]\npythonpath = .")

    config = pytester.parseconfig()

    assert needs_devices(config)


def test_the_command_line_asks_for_devices(pytester: pytest.Pytester) -> None:
    """Whatever the tests are; an ini file leaves it to them."""
    pytester.makepyfile(test_plain="def test_plain(): pass")
    pytester.makeini("[pytest]\nclaw_device = auto\nclaw_spare_devices = 1")

    on_line = pytester.parseconfig("--claw-device", "auto")
    in_file = pytester.parseconfig()
    listing = pytester.parseconfig("--claw-device", "auto", "--collect-only")

    assert [needs_devices(one) for one in (on_line, in_file, listing)] == [True, False, False]


CONFTEST = """
from pathlib import Path

def pytest_clawperator_list_devices():
    Path(__file__).with_name("touched").touch()
    raise RuntimeError("a listing looks for devices")
"""
SUITE = """
import pytest

@pytest.mark.claw_device(form="tablet")
@pytest.mark.claw_app("com.example.absent")
def test_it(clawperator):
    raise AssertionError
"""
LISTINGS = ("fixtures", "fixtures-per-test", "markers", "help", "version", "setup-plan")


@pytest.mark.parametrize(
    "device",
    [
        ["--claw-device=sim"],
        ["--claw-device=auto", "--claw-strict"],
        ["--claw-device=sim", "--claw-matrix=form=phone,tablet"],
        ["--claw-device=auto", "--claw-matrix=each"],
    ],
    ids=" ".join,
)
def test_a_listing_uses_no_device(
    pytester: pytest.Pytester, run_plain: Run, device: list[str]
) -> None:
    """And prints no line about devices; only the ids of tests need those of a matrix of each."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)
    is_each = "--claw-matrix=each" in device

    for listing in (*LISTINGS, *([] if is_each else ["collect-only"])):
        result = run_plain(f"--{listing}", *device)

        assert result.ret == pytest.ExitCode.OK, listing
        assert not (pytester.path / "touched").exists(), listing
        assert "clawperator: " not in result.stdout.str() + result.stderr.str(), listing
        assert not (pytester.path / "claw-results").exists(), listing
