"""``echo`` and ``printf``."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run


@pytest.mark.parametrize(
    ("script", "out"),
    [
        (
            "echo 'a\\tb\\0101\\x41'; echo -E 'a\\t'; echo -n x; echo -e 'y\\n'",
            "a\tbAA\na\\t\nxy\n\n",
        ),
        ("echo 'a\\c'; echo b; echo '\\q\\\\c'", "ab\n\\q\\c\n"),
        ("echo '\\xc3\\xa9'; echo -x -- -n", "é\n-x -- -n\n"),
        (
            "printf '%s|%5d|%-5d|%05d|%x|%c|%%|%.2s\\n' a 1 2 3 255 xyz abc",
            "a|    1|2    |00003|ff|x|%|ab\n",
        ),
        ("printf '%s\\n' a b; printf '%s-%s;' a b c; printf '%b' 'x\\ty'", "a\nb\na-b;c-;x\ty"),
        ("printf '%d %i %u\\n' 0x10 -1 5; printf '%d\\n'", "16 -1 5\n0\n"),
        ("printf '\\101\\x42\\n'; printf a\\\\n; printf 'a\\cb' ", "AB\na\na"),
    ],
)
def test_text_is_printed_as_on_a_phone(script: str, out: str) -> None:
    """Escapes and conversions are those of the phone."""
    assert run(script) == (0, out, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("printf", 'printf: Needs 1 argument (see "printf --help")'),
        ("printf %q", "printf: bad %q"),
        ("printf %d x", "printf: bad %d x"),
    ],
)
def test_bad_formats_are_refused(script: str, message: str) -> None:
    """A conversion that cannot be done is named."""
    assert run(script) == (1, "", message + "\n")


def test_echo_fails_without_a_message_where_it_cannot_write() -> None:
    """A closed output is a status of 1."""
    assert run("echo a >&-; echo $?") == (0, "1\n", "")
