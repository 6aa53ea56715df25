"""What to do next, in the words of the command line."""

from __future__ import annotations

import pickle

import pytest

from pytest_clawperator.errors import AmbiguousDeviceError, ClawperatorError, NoDeviceError
from pytest_clawperator.plugin.failures import for_pytest, hint_of, in_options
from pytest_clawperator.remedies import Remedy, RemedyKind
from tests.plugin.conftest import Run


def test_a_hint_names_options() -> None:
    """With the values at hand, quoted if necessary; a text stays as it is."""
    remedy = Remedy(RemedyKind.CHOOSE_DEVICE, "A", count=2)
    spaced = Remedy(RemedyKind.CHOOSE_DEVICE, "adb-PH1 (2)._tcp", count=2)

    assert hint_of(AmbiguousDeviceError("two", hint=remedy)) == (
        "Choose one: --claw-device A; or any: --claw-device auto; or all, with one worker each:"
        " -n 2 --claw-device auto."
    )
    assert "--claw-device 'adb-PH1 (2)._tcp';" in for_pytest(spaced)
    assert hint_of(ClawperatorError("gone", hint="Check its cable.")) == "Check its cable."
    assert hint_of(ClawperatorError("gone")) is None


def test_errors_raised_inside_name_options() -> None:
    """Whatever is called on behalf of a test."""

    def fail() -> None:
        raise NoDeviceError("none", hint=("Plug one in, or ", Remedy(RemedyKind.USE_SIMULATOR)))

    with pytest.raises(NoDeviceError) as caught:
        in_options(fail)

    assert caught.value.hint == "Plug one in, or use simulated phones: --claw-device sim."


def test_an_error_keeps_its_words_on_its_way_to_the_controller() -> None:
    """A worker's error reads the same in another process, and its remedy is still data."""
    error = ClawperatorError("gone", hint=Remedy(RemedyKind.CORRECT_SERIAL))
    error.wording = for_pytest

    twin = pickle.loads(pickle.dumps(error))

    assert str(twin) == str(error)
    assert twin.hint == "Correct --claw-device."
    assert twin.advice == (Remedy(RemedyKind.CORRECT_SERIAL),)


def test_errors_of_tests_name_options(pytester: pytest.Pytester, run: Run) -> None:
    """In soft checks, in a test's own line, and in the cause of another error."""
    pytester.makepyfile(
        """
        from pytest_clawperator import expect
        from pytest_clawperator.errors import NoDeviceError
        from pytest_clawperator.remedies import Remedy, RemedyKind

        def test_soft(clawperator):
            expect.soft(clawperator).to_match_tree("first")
            expect.soft(clawperator).to_match_tree("second")

        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()

        def test_cause():
            try:
                raise NoDeviceError("none", hint=Remedy(RemedyKind.USE_SIMULATOR))
            except NoDeviceError as error:
                raise RuntimeError("no phone") from error
        """
    )

    result = run("--claw-screenshot=off")

    result.stdout.fnmatch_lines_random(
        [
            *["*hint: Run pytest with --claw-update-goldens to write *"] * 2,
            "*OPERATOR_CRASHED: *",
            "*hint: Before the next test its service*",
            "*hint: Use simulated phones: --claw-device sim.",
        ]
    )
    assert "GoldenStore" not in result.stdout.str()
    assert "connect(" not in result.stdout.str()
