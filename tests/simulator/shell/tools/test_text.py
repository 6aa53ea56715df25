"""Tools that pass text on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.session import run_script
from pytest_clawperator.simulator.shell.streams import Bytes
from tests.simulator.shell.scripts import Flow, Gate, new_shell, real_sh, run, with_gate

ABC = "printf 'b\\na\\nb\\nc 1\\nc 02\\n' > f; "
FIELDS = "printf 'a:b:c\\nd\\ne:f\\n' > f; "


@pytest.mark.parametrize(
    ("script", "out"),
    [
        (ABC + "head -n 2 f; head -2 f; head -n 0 f", "b\na\nb\na\n"),
        (ABC + "cat f | (head -n 1; cat) | wc -l", "5\n"),
        (ABC + "tail -n 2 f; tail -1 f; tail -n +5 f", "c 1\nc 02\nc 02\nc 02\n"),
        ("printf 'a\\nb' | tail -n 1; printf 'a\\nb' | head -n 9", "ba\nb"),
        (ABC + "wc f; wc -l f; wc -w < f; wc -c f", "5 7 15 f\n5 f\n7\n15 f\n"),
        (ABC + "wc < f", "      5       7      15\n"),
        (
            FIELDS + "cut -d : -f 2 f; cut -d: -f2- f; cut -d : -f 1,3 f",
            "b\nd\nf\nb:c\nd\nf\na:c\nd\ne\n",
        ),
        ("echo 'Physical density: 420' | cut -d ' ' -f 3", "420\n"),
        (
            "printf 'a\\r\\n' | tr -d '\\r'; echo abc | tr a-b xy; echo abc | tr abc x",
            "a\nxyc\nxxx\n",
        ),
        (
            "printf ' a\\tb\\r\\n' | tr -d '[:space:]'; echo aBc | tr '[:upper:]' '[:lower:]'",
            "ababc\n",
        ),
        ("echo a1-b_2 | tr -d '[:digit:]_a-b'; echo 'a,-.b' | tr -d '[:punct:]'", "-\nab\n"),
    ],
)
def test_text_tools_print_what_the_phones_print(script: str, out: str) -> None:
    """What a tool prints is what the phone's prints."""
    assert run(script) == (0, out, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("cat nope", "/system/bin/sh: cat: nope: No such file or directory"),
        ("head -n x", "head: not integer: x"),
        ("cut f", 'cut: Needs -f (see "cut --help")'),
        ("cut -f 0 f", "cut: bad 0"),
        ("tr a < /dev/null", 'tr: Needs 2 arguments (see "tr --help")'),
        ("tr z-a b < /dev/null", "tr: bad range z-a"),
        ("tr -d '[:big:]' < /dev/null", "tr: unknown class [:big:]"),
        ("wc a b", "wc: several files are not supported"),
    ],
)
def test_text_tools_complain_as_on_a_phone(script: str, message: str) -> None:
    """Each names itself and what is wrong, and fails."""
    assert run(script) == (1, "", message + "\n")


@pytest.mark.parametrize(
    ("tool", "out"),
    [
        ("grep a", b"a1\n"),
        ("cut -d 1 -f 1", b"a\n"),
        ("tr a b", b"b1\n"),
        ("head -n 5", b"a1\n"),
        ("cat", b"a1\n"),
    ],
)
def test_filters_pass_on_what_they_have(tool: str, out: bytes) -> None:
    """A line that came is passed on before the next one comes."""

    async def scenario(gate: Gate) -> None:
        flow = Flow()
        script = f"{{ echo a1; gate; }} | {tool}"
        work = asyncio.create_task(run_script(new_shell(gate=gate), script, Bytes(), flow, flow))
        await flow.until(out)
        assert not work.done()
        work.cancel()
        await asyncio.wait([work])

    with_gate(scenario)


def test_many_lines_pass_through_long_pipes() -> None:
    """Large texts come through whole."""
    data = b"".join(b"%d\n" % number for number in range(50_000))

    assert run("cat | cat | grep -v 7 | tr 0 x | tail -n 1; echo", data).out == "49999\n\n"
    assert run("cat | wc", data).out == "  50000   50000  288890\n"


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    lines=st.lists(st.text(st.sampled_from("ab1 "), max_size=5), max_size=8),
    count=st.integers(0, 9),
)
def test_line_tools_agree_with_this_machines(lines: list[str], count: int, tmp_path: Path) -> None:
    """Choosing and counting lines gives the same here and there."""
    data = "".join(line + "\n" for line in lines).encode()
    script = (
        f"cat > f; head -n {count} f; echo -; tail -n {count} f; echo -; grep -n a f; echo -; "
        "grep -v b f; echo -; tr ab xy < f; echo -; cut -d 1 -f 2 f; echo -; "
        "grep -c 'a.*b' f; wc -l < f | tr -d ' '"
    )

    assert run(script, data).out == real_sh(script, tmp_path, data).out
