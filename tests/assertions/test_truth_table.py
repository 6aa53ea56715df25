"""Every check in every situation ends as ``truth_table.txt`` has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_poll import PollAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.errors import ExpectationError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.runner import PACKAGE, Phone, client, node, screen

Locate = Callable[[Clawperator], Any]

_TABLE = Path(__file__).with_suffix("").with_name("truth_table.txt").read_text(encoding="utf-8")
# A golden is a file, and a picture needs a device that draws: test_golden_picture.py.
_ELSEWHERE = {"to_match_screenshot", "not_to_match_screenshot"}


# The table


def _sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in _TABLE.splitlines():
        if header := re.match(r"\[(\w+)\]", line):
            lines = found.setdefault(header[1], [])
        elif found and line.strip():
            lines.append(line)
    return found


def _rows(section: str) -> dict[str, dict[str, str]]:
    """Return the cells of a section by check and situation."""
    lines = _SECTIONS[section]
    top = next(place for place, line in enumerate(lines) if line.startswith("check "))
    columns = lines[top].split()[1:]
    rows = {}
    for line in lines[top + 1 :]:
        check, *cells = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        rows[check] = dict(zip(columns, cells[0].split(), strict=True))
    return rows


def _pairs(section: str) -> dict[str, str]:
    """Return the lines of a section that give each situation a word."""
    named = sorted(_SITUATIONS, key=len, reverse=True)
    found = {}
    for line in _SECTIONS[section]:
        name = next((name for name in named if line.startswith(f"{name} ")), None)
        assert name is not None, f"{line!r} names no situation"
        found[name] = line[len(name) :].strip()
    return found


_SECTIONS = _sections()


def _carry_out(check: str, make: Callable[[], Any]) -> Exception | None:
    """Carry out a check as the table writes it; return its error, if any."""
    call = ast.parse(check, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    given = [_value(one) for one in call.args]
    named = {str(one.arg): _value(one.value) for one in call.keywords}
    try:
        getattr(make(), call.func.id)(*given, **named)
    except Exception as error:
        return error
    return None


def _ends(check: str, make: Callable[[], Any]) -> str:
    """Return how a check ends, as the table writes it."""
    error = _carry_out(check, make)
    if error is None or not isinstance(error, ExpectationError):
        return "+" if error is None else "!"
    return "2" if error.code == "NODE_AMBIGUOUS" else "-"


def _value(written: ast.expr) -> Any:
    value = ast.literal_eval(written)
    is_pattern = isinstance(value, str) and re.fullmatch("/.*/", value)
    return re.compile(value[1:-1]) if is_pattern else value


def _differences(
    rows: Mapping[str, Mapping[str, str]], column: str, make: Callable[[], Any]
) -> list[str]:
    wanted = {check: cells[column] for check, cells in rows.items()}
    found = {check: _ends(check, make) for check in wanted}
    return [
        f"{check}: {found[check]}, wanted {end}"
        for check, end in wanted.items()
        if found[check] != end
    ]


@cache
def _expect() -> Expect:
    expect = Expect(clock=FakeTime().clock)
    expect.configure(linger=0)
    return expect


# The situations of a node


def _it(**about: Any) -> str:
    """Make the button that is looked for."""
    look = {"text": "OK", "id": "it", "kind": "Button", "bounds": "[100,200][300,250]"}
    return node(**{**look, **about})


def _box(*inside: str, top: int = 100, **about: Any) -> str:
    """Make a container."""
    return node(*inside, **{"id": "box", "bounds": f"[0,{top}][1080,{top + 300}]", **about})


def _by_id(claw: Clawperator) -> Any:
    return claw.node(id="it")


def _in_a_box(claw: Clawperator) -> Any:
    return claw.node(id="box").node(id="it")


def _with_a_mark(claw: Clawperator) -> Any:
    return claw.node(id="it", has=claw.node(id="mark"))


_OFF = "[100,5000][300,5050]"
_SECOND = "[100,500][300,550]"
_MARK = node(id="mark", kind="ImageView", bounds="[110,210][120,220]")
_SECOND_MARK = node(id="mark", kind="ImageView", bounds="[110,510][120,520]")
_OTHER_SCREEN = screen(node(text="Other", id="other", kind="TextView"))
_BOTH_BOXES = screen(_box(_it()), _box(_it(bounds=_SECOND), top=400))
_SECOND_BOX = screen(_box(), _box(_it(bounds=_SECOND), top=400))
# In rows of a list, so that the second is not what stands beside the first.
_TWO = screen(
    node(
        _box(_it(), id="row"),
        _box(_it(bounds=_SECOND), id="row", top=400),
        kind="ListView",
        bounds="[0,0][1080,2000]",
    )
)
_SECOND_HAS_MARK = screen(
    _it(), node(_SECOND_MARK, text="OK", id="it", kind="Button", bounds=_SECOND)
)


@dataclass(frozen=True)
class _Situation:
    """What a phone shows, and how the node is looked for."""

    screen: str
    locate: Locate = _by_id
    package: str = PACKAGE
    options: Mapping[str, Any] = field(default_factory=dict)

    def live(self) -> Any:
        """Expect something of a locator."""
        return _expect()(self._located)

    def fixed(self) -> Any:
        """Expect the same of a snapshot."""
        return _expect()(self._snapshot).node(self._located)

    def found(self) -> Any:
        """Expect something of a node that was found on a snapshot, wherever it is."""
        return _expect()(self._snapshot.find(id="it", on_screen=False))

    @cached_property
    def _located(self) -> Any:
        shown = {"text": self.screen, "foreground_package": self.package}
        claw = client(Phone(data={"snapshot_ui": shown}), timeout=0.0, **self.options)
        return self.locate(claw)

    @cached_property
    def _snapshot(self) -> Snapshot:
        return Snapshot.from_xml(self.screen, foreground_package=self.package)


def _node_of(xml: str, **matcher: Any) -> Locate:
    """Locate by a node of an earlier snapshot."""
    return lambda claw: claw.node(Snapshot.from_xml(xml).find(**matcher))


def _nameless(claw: Clawperator) -> Any:
    """Locate by a node of an earlier snapshot that nothing tells from its twin."""
    plain = node(kind="View", bounds="[0,0][10,10]")
    nodes = Snapshot.from_xml(screen(plain, plain)).nodes
    assert nodes[-1].matcher() is None
    return claw.node(nodes[-1])


def _of_system(package: str, *nodes: str) -> _Situation:
    """Show a window of the system."""
    shown = screen(*nodes).replace(f"{PACKAGE}:id/", f"{package}:id/")
    owned = shown.replace(f'package="{PACKAGE}"', f'package="{package}"')
    return _Situation(owned, package=package)


def _in_a_list(bounds: str) -> _Situation:
    """Show the button at a place in a list."""
    inside, around = _it(bounds=bounds), "[50,100][1000,500]"
    return _Situation(screen(node(inside, kind="ListView", bounds=around, scrollable=True)))


_SITUATIONS: dict[str, _Situation] = {
    "absent": _Situation(_OTHER_SCREEN),
    "shown": _Situation(screen(_it())),
    "off": _Situation(screen(_it(bounds=_OFF))),
    "two": _Situation(_TWO),
    "first": _Situation(_TWO, options={"matchers": "first"}),
    "nested": _Situation(
        screen(
            node(
                node(text="OK", kind="TextView", bounds="[110,210][200,240]"),
                text="OK",
                kind="Button",
                bounds="[100,200][300,250]",
            )
        ),
        lambda claw: claw.node(text="OK"),
    ),
    "disabled": _Situation(screen(_it(enabled=False))),
    "on": _Situation(screen(_it(kind="Switch", checkable=True, checked=True))),
    "unchecked": _Situation(screen(_it(kind="Switch", checkable=True, focusable=True))),
    "focused": _Situation(screen(_it(focused=True))),
    "selected": _Situation(screen(_it(selected=True))),
    "bare": _Situation(screen(_it(text=""))),
    "described": _Situation(screen(_it(text="", desc="OK"))),
    "label": _Situation(
        screen(
            _box(
                _it(kind="TextView"),
                node(text="16", id="summary", kind="TextView", bounds="[100,260][300,300]"),
            )
        )
    ),
    "above a list": _Situation(
        screen(
            _it(),
            node(
                node(text="16", kind="TextView", bounds="[100,300][300,350]"),
                kind="ListView",
                bounds="[0,300][1080,900]",
            ),
        )
    ),
    "half": _Situation(
        screen(
            node(
                _it(bounds="[100,450][300,550]"),
                kind="ScrollView",
                bounds="[0,100][1080,500]",
                scrollable=True,
            )
        )
    ),
    "cut": _in_a_list("[100,100][300,150]"),
    "at the bottom of its list": _in_a_list("[100,450][300,500]"),
    "at the left of its list": _in_a_list("[50,200][300,250]"),
    "at the right of its list": _in_a_list("[100,200][1000,250]"),
    "at the height of its list": _in_a_list("[100,100][300,500]"),
    "at the width of its list": _in_a_list("[50,200][1000,250]"),
    "at the bottom of the window": _Situation(screen(_it(bounds="[100,2350][300,2400]"))),
    "covered": _Situation(
        screen(_it(), node(id="veil", bounds="[0,0][1080,2400]", clickable=True))
    ),
    "in the container": _Situation(screen(_box(_it())), _in_a_box),
    "in the second container": _Situation(_SECOND_BOX, _in_a_box),
    "within the second": _Situation(
        _SECOND_BOX, lambda claw: claw.node(id="it", within=claw.node(id="box"))
    ),
    "in the second list": _Situation(
        screen(_box(_box()), _box(_box(_it(bounds=_SECOND), id="row", top=400), top=400)),
        lambda claw: claw.node(id="box").node(id="row").node(id="it"),
    ),
    "in both containers": _Situation(_BOTH_BOXES, _in_a_box),
    "beside the containers": _Situation(
        screen(_box(), _it(bounds=_SECOND), _box(top=800)), _in_a_box
    ),
    "outside the first": _Situation(
        _SECOND_BOX, lambda claw: claw.node(id="box").first.node(id="it")
    ),
    "inside the nth": _Situation(
        _BOTH_BOXES, lambda claw: claw.node(id="box").nth(1).node(id="it")
    ),
    "itself its container": _Situation(
        screen(_it()), lambda claw: claw.node(id="it").node(id="it")
    ),
    "with a mark in the second": _Situation(_SECOND_HAS_MARK, _with_a_mark),
    "with a mark outside": _Situation(screen(_it(), _MARK), _with_a_mark),
    "with itself as the mark": _Situation(
        screen(_it()), lambda claw: claw.node(id="it", has=claw.node(id="it"))
    ),
    "with two marks": _Situation(
        screen(
            node(
                *(_MARK, node(id="other")),
                text="OK",
                id="it",
                kind="Button",
                bounds="[100,200][300,250]",
            )
        ),
        lambda claw: claw.node(_with_a_mark(claw), has=claw.node(id="other")),
    ),
    "with one of two marks": _Situation(
        screen(node(node(id="other"), text="OK", id="it", kind="Button")),
        lambda claw: claw.node(_with_a_mark(claw), has=claw.node(id="other")),
    ),
    "in a container off screen": _Situation(screen(_box(_it(bounds=_OFF), top=4900)), _in_a_box),
    "with a mark off screen": _Situation(
        screen(
            node(
                node(id="mark", bounds="[110,5010][120,5020]"),
                text="OK",
                id="it",
                kind="Button",
                bounds=_OFF,
            )
        ),
        _with_a_mark,
    ),
    "one of two off screen": _Situation(screen(_it(), _it(bounds=_OFF))),
    "first of two": _Situation(_TWO, lambda claw: claw.node(id="it").first),
    "last of two": _Situation(_TWO, lambda claw: claw.node(id="it").last),
    "nth of two": _Situation(_TWO, lambda claw: claw.node(id="it").nth(1)),
    "nth beyond two": _Situation(_TWO, lambda claw: claw.node(id="it").nth(2)),
    "by a pattern": _Situation(screen(_it()), lambda claw: claw.node(text=re.compile("^O.$"))),
    "by a part of the text": _Situation(screen(_it()), lambda claw: claw.node(text_contains="k")),
    "by a text in other case": _Situation(screen(_it()), lambda claw: claw.node(text="ok")),
    "by another role": _Situation(screen(_it()), lambda claw: claw.node(id="it", role="switch")),
    "by a whole id": _Situation(
        screen(_it()), lambda claw: claw.node({"resourceId": f"{PACKAGE}:id/it"})
    ),
    "by a short id in a dict": _Situation(
        screen(_it()), lambda claw: claw.node({"resourceId": "it"})
    ),
    "by a node of before": _Situation(screen(_it()), _node_of(screen(_it(enabled=False)), id="it")),
    "by a node that has gone": _Situation(_OTHER_SCREEN, _node_of(screen(_it()), id="it")),
    "in another app": _Situation(_OTHER_SCREEN, package="com.example.mail"),
    "behind the app's dialog": _Situation(
        screen(node(text="Delete?", kind="TextView"), node(text="Yes", kind="Button"))
    ),
    "cut off": _Situation(screen(_it())[:-30]),
    "crashed": _of_system(
        "android",
        node(text="Shop has stopped", id="alertTitle", kind="TextView"),
        node(text="Close app", id="aerr_close", kind="Button"),
    ),
    "behind a request": _of_system(
        "com.android.permissioncontroller",
        node(text="Allow Shop to record audio?", id="permission_message", kind="TextView"),
        node(text="Allow", id="permission_allow_button", kind="Button"),
    ),
    "behind a warning": _of_system(
        "com.android.systemui",
        node(text="Battery is low", id="alertTitle", kind="TextView"),
    ),
    "behind the lock screen": _of_system(
        "com.android.systemui",
        node(text="Swipe up to open", id="keyguard_indication_text", kind="TextView"),
    ),
    "by a node without name": _Situation(_OTHER_SCREEN, _nameless),
}

_NODE = _rows("node")
_BASIC = {name: name for name in next(iter(_NODE.values()))}
_SAME = _pairs("same")
# Each check once, all counts and ratios: how a node is found does not change what they mean.
_ONCE = {check.partition("(")[0]: check for check in reversed(_NODE)}
_WITH_NUMBERS = ("count", "ratio")
_SOME = {
    check: _NODE[check]
    for check in _NODE
    if check in _ONCE.values() or any(word in check for word in _WITH_NUMBERS)
}


@pytest.mark.parametrize("situation", [*_BASIC, *_SAME])
@pytest.mark.parametrize("subject", ["live", "fixed"])
def test_checks_of_a_node(situation: str, subject: str) -> None:
    """A locator and a snapshot agree; ``--claw-matchers=first`` is a client's."""
    rows, column = (_NODE, situation) if situation in _BASIC else (_SOME, _SAME[situation])
    if (situation, subject) != ("first", "fixed"):
        assert _differences(rows, column, getattr(_SITUATIONS[situation], subject)) == []


@pytest.mark.parametrize("situation", _SECTIONS["found"][0].split())
def test_checks_of_a_node_that_was_found(situation: str) -> None:
    """They are those of its place and state on its snapshot."""
    assert _differences(_NODE, situation, _SITUATIONS[situation].found) == []


@pytest.mark.parametrize(("situation", "said"), _pairs("never").items())
@pytest.mark.parametrize("subject", ["live", "fixed"])
def test_nothing_passes(situation: str, said: str, subject: str) -> None:
    """What cannot be known fails, negated or not, and the failure says why."""
    make = getattr(_SITUATIONS[situation], subject)
    errors = {check: _carry_out(check, make) for check in _SOME}

    assert [check for check, error in errors.items() if error is None] == []
    assert [check for check, error in errors.items() if said not in str(error)] == []


# Screens


_SCREENS: dict[str, tuple[str, dict[str, str]]] = {
    "app": (screen(_it()), {"foreground_package": PACKAGE, "has_overlay": "false"}),
    "other": (
        _OTHER_SCREEN,
        {"foreground_package": "com.example.mail", "has_overlay": "false"},
    ),
    "overlay": (
        screen(_it()),
        {
            "foreground_package": PACKAGE,
            "has_overlay": "true",
            "overlay_package": "com.example.chat",
        },
    ),
    "unreported": (screen(_it()), {"foreground_package": PACKAGE}),
}


@pytest.mark.parametrize("situation", _SCREENS)
def test_checks_of_a_screen(situation: str) -> None:
    """A client and a snapshot agree."""
    xml, about = _SCREENS[situation]
    claw = client(Phone(data={"snapshot_ui": {"text": xml, **about}}), timeout=0.0)

    live = _differences(_rows("screen"), situation, lambda: _expect()(claw))
    fixed = _differences(
        _rows("screen"), situation, lambda: _expect()(Snapshot.from_step(xml, about))
    )

    assert (live, fixed) == ([], [])


# Envelopes


def _envelope(status: str, *steps: tuple[str, str | None], error: str | None = None) -> Any:
    """Make an envelope whose steps succeeded, or failed with a code."""
    results = [
        {
            "id": name,
            "actionType": "click",
            "success": code is None,
            "data": {"text": "x"} if code is None else {"error": code},
        }
        for name, code in steps
    ]
    return ResultEnvelope.model_validate(
        {
            "commandId": "c",
            "taskId": "t",
            "status": status,
            "stepResults": results,
            "error": error,
        }
    )


_MISSING, _MISMATCH = "NODE_NOT_FOUND", "VALIDATOR_MISMATCH"
_ENVELOPES = {
    "well": _envelope("success", ("a", None)),
    "a": _envelope("failed", ("a", _MISSING), error=f"Step a (click) failed: {_MISSING}"),
    "b": _envelope("failed", ("a", None), ("b", _MISMATCH), error="Step b (click) failed"),
    "both": _envelope("failed", ("a", _MISSING), ("b", _MISMATCH), error="Step a failed"),
    "hard": _envelope("failed", error="Task execution failed: No UI node found matching criteria"),
    "odd": _envelope("success", ("a", None), error="the Operator went wrong"),
    "empty": _envelope("success"),
    "twins": _envelope("failed", ("a", None), ("a", _MISSING), error="Step a (click) failed"),
}


@pytest.mark.parametrize("situation", _ENVELOPES)
def test_checks_of_an_envelope(situation: str) -> None:
    """Every step counts, and an envelope that contradicts itself has not succeeded."""
    envelope = _ENVELOPES[situation]

    assert _differences(_rows("envelope"), situation, lambda: _expect()(envelope)) == []


# Functions


def _asserts() -> int:
    raise AssertionError("not yet")


def _breaks() -> int:
    raise ValueError("broken")


async def _coroutine() -> int:
    return 1


def _generator() -> Iterator[int]:
    yield 1


_FUNCTIONS: dict[str, Callable[[], Any]] = {
    "one": lambda: 1,
    "two": lambda: 2,
    "zero": lambda: 0,
    "none": lambda: None,
    "asserts": _asserts,
    "breaks": _breaks,
    "coroutine": _coroutine,
    "generator": _generator,
    "method": lambda: "text".upper,
}


@pytest.mark.parametrize("situation", _FUNCTIONS)
def test_checks_of_a_function(situation: str) -> None:
    """What gives no value is an error, not a value."""
    function = _FUNCTIONS[situation]

    def make() -> Any:
        return _expect().poll(function, timeout=0.0)

    assert _differences(_rows("poll"), situation, make) == []


# All of it


@pytest.mark.parametrize(
    ("section", "subject"),
    [
        ("node", LocatorAssertions),
        ("screen", ScreenAssertions),
        ("envelope", EnvelopeAssertions),
        ("poll", PollAssertions),
    ],
)
def test_the_table_has_every_check(section: str, subject: type) -> None:
    """A new check needs its rows."""
    public = {name for name in dir(subject) if re.match("(not_)?to_", name)}
    written = {check.partition("(")[0] for check in _rows(section)}

    assert public - _ELSEWHERE == written
