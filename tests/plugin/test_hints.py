"""What to do next, in the words of the command line."""

from __future__ import annotations

import pickle

import pytest

from pytest_clawperator.errors import AmbiguousDeviceError, ClawperatorError, NoDeviceError
from pytest_clawperator.plugin.failures import for_pytest, hint_of, in_options
from pytest_clawperator.remedies import Remedy, RemedyKind
from tests.plugin.conftest import Run


def test_a_hint_names_options_with_the_values_at_hand() -> None:
    """What scripts read as a call is an option in a test."""
    remedy = Remedy(RemedyKind.CHOOSE_DEVICE, "A", count=2)

    hint = hint_of(AmbiguousDeviceError("two", hint=remedy))

    assert hint == (
        "Choose one: --claw-device A; or any: --claw-device auto; or all, with one worker each:"
        " -n 2 --claw-device auto."
    )


def test_a_serial_with_a_space_is_quoted() -> None:
    """What a hint says can be typed, also for phones on Wi-Fi."""
    remedy = Remedy(RemedyKind.CHOOSE_DEVICE, "adb-PH1 (2)._tcp", count=2)

    assert "--claw-device 'adb-PH1 (2)._tcp';" in for_pytest(remedy)


def test_a_hint_that_is_the_same_for_all_stays() -> None:
    """A text is left alone, and so is no hint."""
    kept = ClawperatorError("gone", hint="Look at its cable.")
    none = ClawperatorError("gone")

    assert hint_of(kept) == "Look at its cable."
    assert hint_of(none) is None


def test_errors_raised_inside_name_options() -> None:
    """What is called on behalf of a test raises errors in the words of tests."""

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


def test_a_soft_expectation_names_options(pytester: pytest.Pytester, run: Run) -> None:
    """Failures that are told at the end of a test are worded for it, too."""
    pytester.makepyfile(
        """
        from pytest_clawperator import expect

        def test_it(clawperator):
            expect.soft(clawperator).to_match_tree("first")
            expect.soft(clawperator).to_match_tree("second")
        """
    )

    result = run("--claw-screenshot=off")

    result.stdout.fnmatch_lines(["*hint: Run pytest with --claw-update-goldens to write *"] * 2)
    assert "GoldenStore" not in result.stdout.str()


def test_a_crash_in_a_test_says_what_happens_next(pytester: pytest.Pytester, run: Run) -> None:
    """The error of a test's own line says what to do in pytest, too."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    result = run("--claw-screenshot=off")

    result.stdout.fnmatch_lines(
        ["*OPERATOR_CRASHED: *", "*hint: Before the next test its service*"]
    )
    assert "connect(" not in result.stdout.str()


def test_the_cause_of_an_error_names_options_too(pytester: pytest.Pytester, run_plain: Run) -> None:
    """An error that a test raises from one of ours shows both in the words of tests."""
    pytester.makepyfile(
        """
        from pytest_clawperator.errors import NoDeviceError
        from pytest_clawperator.remedies import Remedy, RemedyKind

        def test_it():
            try:
                raise NoDeviceError("none", hint=Remedy(RemedyKind.USE_SIMULATOR))
            except NoDeviceError as error:
                raise RuntimeError("no phone") from error
        """
    )

    result = run_plain()

    result.stdout.fnmatch_lines(["*hint: Use simulated phones: --claw-device sim."])
