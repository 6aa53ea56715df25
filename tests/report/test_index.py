"""The index of a run: written, read back with its traces, and failures grouped."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.report.index import (
    PAGE_FILE,
    RUN_FILE,
    RunLog,
    TestMoved,
    groups_of,
    read_run,
    similarity_key,
)
from pytest_clawperator.report.trace import to_line
from tests.report.made_traces import START, ended, error, write_run, write_short_trace


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Each field of a record comes back."""
    test = ended(
        "test_cart",
        outcome="failed",
        attempt=2,
        worker="gw1",
        devices=("emulator-5554",),
        seconds={"setup": 0.5, "call": 1.0},
        error=error("no 'Cart'"),
        is_infrastructure=True,
        folder="test_shop-test_cart-5d0c11",
        page="test_shop-test_cart-5d0c11/trace.html",
        markers=("slow",),
    )

    run = read_run(write_run(tmp_path, test))

    assert run.tests == (test,)
    assert run.name == "20260305-101500-3fa2"
    assert run.devices == {"emulator-5554": {"model": "Pixel 9"}}
    assert run.environment == {"pytest": "9.0"}
    assert run.start == START - 1


def names_in(folder: Path) -> list[str]:
    """Return the names of the tests of a run."""
    return [test.nodeid.removeprefix("test_shop.py::") for test in read_run(folder).tests]


def test_lines_are_written_as_soon_as_it_is_opened(tmp_path: Path) -> None:
    """They wait until a test uses a device; half a line of a killed run is left out."""
    folder = tmp_path / "run"
    log = RunLog(folder)
    log.add(ended("first"))
    assert list(tmp_path.iterdir()) == []

    log.open()
    log.add(ended("second"))

    assert names_in(folder) == ["first", "second"]
    log.close()
    path = folder / RUN_FILE
    path.write_bytes(path.read_bytes()[:-9])
    assert names_in(folder) == ["first"]


LINES = [
    "[]",
    "null",
    '{"kind":"test","at":1}',
    '{"kind":"test","at":1,"nodeid":"a","outcome":"great","start":1,"stop":2}',
    '{"kind":"test","at":1,"nodeid":5,"outcome":"passed","start":1,"stop":2}',
    '{"kind":"test","at":1,"nodeid":"a","outcome":"passed","start":true,"stop":2}',
    "[" * 100_000,
    "\x00\xff",
]


def test_odd_lines_are_left_out_and_odd_fields_are_empty(tmp_path: Path) -> None:
    """They do not hide the others."""
    folder = write_run(tmp_path, ended("good"))
    with (folder / RUN_FILE).open("a", encoding="latin-1") as file:
        file.writelines(f"{line}\n" for line in LINES)
    assert names_in(folder) == ["good"]
    with (folder / RUN_FILE).open("a", encoding="ascii") as file:
        file.write(
            '{"kind":"test","at":1,"nodeid":"a","outcome":"failed","start":1,"stop":0,"error":3,'
            '"devices":"x","seconds":[1],"markers":[7],"folder":{},"attempt":"2"}\n'
        )

    _, test = read_run(folder).tests

    assert (test.error, test.devices, test.seconds, test.folder) == (None, (), {}, "")
    assert (test.attempt, test.stop) == (1, 1)


def test_each_attempt_has_the_page_of_its_trace(tmp_path: Path) -> None:
    """Attempts at one test on one worker differ by when they began."""
    first, second = ended("a", outcome="rerun"), ended("a", start=START + 60, attempt=2)
    write_run(tmp_path, first, second)
    for place, start in (("one", START + 0.1), ("two", START + 60.1)):
        write_short_trace(tmp_path / place / "trace", "a", start=start)
        (tmp_path / place / PAGE_FILE).touch()

    pages = [test.page for test in read_run(tmp_path).tests]
    write_short_trace(tmp_path / "later" / "trace", "a", start=START + 600)

    assert pages == ["one/trace.html", "two/trace.html"]
    assert len(read_run(tmp_path).tests) == 3  # no line is of that time


def test_a_trace_without_a_line_is_a_test_that_was_broken_off(tmp_path: Path) -> None:
    """A test whose process was killed is in the index; traces alone are a run."""
    write_run(tmp_path, ended("a", worker="gw0"))
    folder = write_short_trace(tmp_path / "unfinished" / "b", "b", worker="gw1", outcome=None)
    (folder / PAGE_FILE).touch()
    lost = read_run(tmp_path).tests[-1]
    write_short_trace(tmp_path / "run" / "a" / "trace", "a", outcome="error")
    run = read_run(tmp_path / "run")

    assert (lost.outcome, lost.worker, lost.devices) == ("broken off", "gw1", ("emulator-5554",))
    assert lost.page == "unfinished/b/trace.html"
    [test] = run.tests
    assert (test.outcome, test.error and test.error.message) == ("error", "it broke")
    assert run.devices == {"emulator-5554": {"model": "Pixel 9"}}


def test_a_test_that_only_moved_is_not_in_the_index(tmp_path: Path) -> None:
    """Its trace shows why; on the other device it has its line."""
    moved = TestMoved(at=START, nodeid="test_shop.py::a", worker="gw0", start=START, stop=START + 1)
    write_run(tmp_path, ended("a", worker="gw1"))
    write_short_trace(tmp_path / "a" / "trace", "a", worker="gw0", outcome="error")
    with (tmp_path / RUN_FILE).open("ab") as file:
        file.write(to_line(moved.to_json()))
        file.write(b'{"kind":"moved","at":1,"nodeid":"a","start":"now"}\n')

    assert [test.outcome for test in read_run(tmp_path).tests] == ["passed"]


def test_a_later_line_about_an_attempt_replaces_the_one_before(tmp_path: Path) -> None:
    """A device may be released when its test has its line already."""
    write_run(tmp_path, ended("a"), ended("b"), ended("a", outcome="error"))

    assert [test.outcome for test in read_run(tmp_path).tests] == ["error", "passed"]


def test_a_secret_that_becomes_known_later_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is gone through once more at its end."""
    monkeypatch.setattr(SECRETS, "secrets", SECRETS.secrets)
    log = RunLog(tmp_path)
    log.open()
    log.add(ended("a", outcome="failed", error=error("typed swordfish-42")))

    SECRETS.add("swordfish-42")
    log.close()

    assert b"swordfish" not in (tmp_path / RUN_FILE).read_bytes()
    assert len(read_run(tmp_path).tests) == 1


ALIKE = [
    ("expected node(text='Cart') to be visible", "expected node(text='Pay now') to be visible"),
    ('no node with text "it\'s 5"', 'no node with text "so"'),
    ("no answer within 5 s", "no answer within 12.5 s"),
    ("found 1,204 nodes", "found 3 nodes"),
    ("emulator-5554 is gone", "emulator-5556 is gone"),
    ("[emulator-5554] NO_ANSWER: gone", "[127.0.0.1:4001] NO_ANSWER: gone"),
    ("command 3f2a9c01 failed", "command 99bb00ff failed"),
    (
        "run 123e4567-e89b-12d3-a456-426614174000 was lost",
        "run 00000000-e89b-12d3-a456-42661417400f was lost",
    ),
    ("total was $12.00,\n wanted $13.00", "total was $1.00, wanted $2.50"),
]


def test_failures_that_are_alike_are_grouped() -> None:
    """Quoted texts, numbers, ids, serials and line ends do not count; words and codes do."""
    for one, other in ALIKE:
        assert similarity_key(error(one)) == similarity_key(error(other)), one
    for first, second in (
        (error("no match"), error("two matches")),
        (error("no match"), error("no match", code=None)),
        (error("defaced facade"), error("deadbeef facade")),
    ):
        assert similarity_key(first) != similarity_key(second)
    tests = [
        ended("a", error=error("gone for 3 s")),
        ended("b"),
        ended("c", error=error("no 'x'")),
        ended("d", error=error("no 'y'")),
    ]
    assert groups_of(tests) == [[2, 3], [0]]
    # Quotes without an end are read once, not again and again.
    assert similarity_key(error("'" * 100_000 + '"' * 100_000)).startswith("NODE_NOT_FOUND: ")
