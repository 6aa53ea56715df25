"""What each kind of test comes to in each situation, and what each report says of that.

A cell is a verdict; ``CHANNELS`` says what a verdict looks like in the terminal, in JUnit XML, in
Allure, in the index of the run and in the trace. ``MODES`` has what differs with the way to run.
"""

from __future__ import annotations

from dataclasses import dataclass

#: A kind of test and a situation.
Cell = tuple[str, str]

#: The verdict of a situation in every kind of test, unless ``ELSEWHERE`` has another.
USUAL = {
    "passes": "passed",
    "fails": "failed",
    "soft": "failed",
    "skips": "skipped",
    "soft_then_skip": "failed",
    "trouble": "trouble",
    "unreadable": "trouble",
    "trouble_once": "trouble",  # the next attempt would pass
    "wrapped": "trouble",  # raise AssertionError from the trouble
    "xfail_fails": "xfailed",
    "xfail_soft": "xfailed",
    "xfail_trouble": "trouble",
    "xfail_unreadable": "trouble",
    "xfail_xpass": "xpassed",
    "strict_xpass": "failed",
}

_IN_SETUP = {"fails": "failed in setup", "soft": "failed in setup"}
_AT_END = dict.fromkeys(("trouble", "unreadable", "trouble_once", "wrapped"), "trouble at the end")

#: Verdicts of kinds for which the situation arises in another phase; None: it cannot be written.
ELSEWHERE: dict[str, dict[str, str | None]] = {
    "function": {},
    "method": {},
    "parameter": {},
    "unittest": {},
    # unittest.expectedFailure instead of xfail: a success is always a failure.
    "expected": {"xfail_xpass": "failed"},
    "spare": {},  # on the second of two devices
    "setup": {**_IN_SETUP, "soft_then_skip": "failed in setup"},
    "teardown": {
        "fails": "failed at the end",
        "soft": "failed at the end",
        "soft_then_skip": "failed at the end",
        **_AT_END,
        # pytest: a test that passed does not become skipped or expected afterwards.
        **dict.fromkeys(("skips", "xfail_fails", "xfail_soft"), None),
        **dict.fromkeys(("xfail_trouble", "xfail_unreadable"), "xpassed, trouble at the end"),
    },
    # pytest: a skip or an xfail marker concerns the subtest, and the test itself then passes.
    "subtests": {"skips": "passed, a part not", "xfail_fails": "xpassed, a part not"},
    "subTest": {"skips": "passed, a part not", "xfail_fails": "xpassed, a part not"},
    # A group with a skip in it is an error like any other.
    "group": dict.fromkeys(("skips", "soft_then_skip"), None),
    "async": {},
    "hypothesis": {},
    "doctest": {},
    "yaml": dict.fromkeys(("skips", "soft_then_skip", "wrapped", "trouble_once"), None),
    "skill": dict.fromkeys(
        ("skips", "soft", "soft_then_skip", "wrapped", "trouble_once", "xfail_soft"), None
    ),
}

KINDS = tuple(ELSEWHERE)

#: With these, a test whose device failed is run once more.
_AGAIN = {"trouble_once": "passed"}

#: Ways to run: what they change, of all kinds of tests or of one, and their options.
MODES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "plain": ({}, ()),
    "workers": (_AGAIN, ("-n2",)),
    "reruns": (
        {
            **_AGAIN,
            "teardown trouble_once": "passed",
            "subtests soft_then_skip": "failed, an attempt with a part skipped",
            "subTest soft_then_skip": "failed, an attempt with a part skipped",
        },
        ("-ppytest_rerunfailures", "--reruns=1"),
    ),
    "strict": ({}, ("--claw-strict",)),
}


@dataclass(frozen=True)
class Channels:
    """What the reports say of a test; the trace is kept of tests that failed."""

    terminal: str
    junit: str
    allure: str
    index: str
    trace: str | None = None


CHANNELS = {
    "passed": Channels("PASSED", "", "passed", "passed"),
    "failed": Channels("FAILED", "failure", "failed", "failed", "failed"),
    "skipped": Channels("SKIPPED", "skipped", "skipped", "skipped"),
    "xfailed": Channels("XFAIL", "skipped", "skipped", "xfailed"),
    "xpassed": Channels("XPASS", "", "passed", "xpassed"),
    "passed, a part not": Channels("PASSED", "skipped", "skipped", "passed"),
    "xpassed, a part not": Channels("XPASS", "skipped", "skipped", "xpassed"),
    "failed, an attempt with a part skipped": Channels(
        "FAILED", "failure skipped", "failed", "failed", "failed"
    ),
    "trouble": Channels("ERROR", "error infrastructure", "broken", "error", "error"),
    "failed in setup": Channels("ERROR", "error", "failed", "error", "error"),
    "failed at the end": Channels("ERROR PASSED", "error", "failed", "error", "error"),
    "trouble at the end": Channels(
        "ERROR PASSED", "error infrastructure", "broken", "error", "error"
    ),
    "xpassed, trouble at the end": Channels(
        "ERROR XPASS", "error infrastructure", "broken", "error", "error"
    ),
    "released badly": Channels("ERROR PASSED", "error", "broken", "error", "error"),
}

#: A run of nothing but these has succeeded.
GREEN = ("passed", "skipped", "xfailed", "xpassed", "passed, a part not", "xpassed, a part not")


def verdict(kind: str, situation: str, mode: str = "plain") -> str | None:
    """Return a cell of the table; None if such a test cannot be written."""
    own, changed = ELSEWHERE[kind], MODES[mode][0]
    if f"{kind} {situation}" in changed:
        return changed[f"{kind} {situation}"]
    if situation in own:
        return own[situation]
    return changed.get(situation, USUAL[situation])
