"""The command line of logcat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.log.logcat_phone import Phone


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-x"], "Unknown option '-x'."),
        (["--nonsense"], "Unknown option '--nonsense'."),
        (["--clear=1"], "Unknown option '--clear=1'."),
        (["-v"], "Option '-v' needs an argument."),
        (["--pid"], "Option '--pid' needs an argument."),
        (["-v", "fancy"], "Invalid -v 'fancy'."),
        (["-v", "time,fancy"], "Invalid -v 'fancy'."),
        (["-b", "nowhere"], "Unknown -b buffer 'nowhere'."),
        (["--pid=x"], "pid 'x' out of range."),
        (["--pid=1", "--pid=2"], "Only one --pid argument can be provided."),
        (["--uid=me"], "Unable to parse UID 'me'"),
        (["-m", "0"], "-m '0' isn't an integer greater than zero."),
        (["-m", "1", "-t", "1"], "Cannot use -m (--max-count) and -t together."),
        (["-G", "much"], "-G must be specified as <num><multiplier>."),
        (["-G", "1K"], "failed to set the 'main,system,crash,kernel' log sizes."),
        (["-T", "yesterday"], "-T 'yesterday' not in time format."),
        (["-t", "13-41 10:00:00.000"], "-t '13-41 10:00:00.000' not in time format."),
        (["-t", "02-30 10:00:00.000"], "-t '02-30 10:00:00.000' not in time format."),
        (["Tag:Q"], "Invalid filter expression 'Tag:Q'."),
        ([":E"], "Invalid filter expression ':E'."),
        (["-L"], "Logcat read failure: No such file or directory"),
        (["-r", "16"], "-r does not exist on a simulated device."),
    ],
)
def test_invalid_arguments_are_reported_on_stderr(
    phone: Phone, args: list[str], complaint: str
) -> None:
    """What logcat does not understand it says on stderr, and fails."""
    assert phone.run(*args) == (1, "", f"logcat: {complaint}\n")


def test_a_broken_expression_aborts(phone: Phone) -> None:
    """A regular expression that cannot be compiled ends the process."""
    assert phone.run("-d", "-e", "(")[0] == 134


def test_warnings_do_not_stop_it(phone: Phone) -> None:
    """A count of nothing counts as one, text after a time is named and ignored."""
    assert phone.run("-t", "0", "-v", "raw") == (
        0,
        "--------- beginning of crash\nthird\n",
        "WARNING: -t 0 invalid, setting to 1\n",
    )
    assert phone.run("-t", "03-28 10:00:00.000 +0000", "-v", "raw")[2] == (
        "WARNING: -t '03-28 10:00:00.000' ' +0000' time truncated\n"
    )
    assert phone.run("-d", "--print")[2].startswith("WARNING: --print ignored")


def test_help_and_options_in_any_order(phone: Phone) -> None:
    """Help goes to stdout; options may follow filters; unique beginnings of long ones will do."""
    status, out, err = phone.run("--help")

    assert (status, err) == (0, "")
    assert "Usage: logcat [OPTION]... [FILTERSPEC]..." in out
    assert phone.lines("*:S", "E:V", "--form=raw") == ["second"]
    assert phone.run("-dv", "raw", "--", "-c:V", "*:S") == (0, "", "")


@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_arguments_end_cleanly(args: list[str]) -> None:
    """Whatever is typed, the command prints or complains; nothing else happens."""
    phone = Phone()
    phone.log.write("I", "T", "x", pid=1)

    status, _, err = phone.run("-d", *args)

    assert status in (0, 1, 134)
    assert (status == 0) or err.startswith("logcat: ")
