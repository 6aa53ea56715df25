"""Tools that make, change and remove files."""

from __future__ import annotations

import pytest

from tests.simulator.shell.scripts import run


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("touch a b; rm a; ls; mkdir -p d/e; rm -r d b; ls; rm -f nope; rm -rf nope", "b\n"),
        ("mkdir -p a/b a/b; mkdir -- c; ls", "a\nc\n"),
        ("touch -am f; ls; echo x > f; touch f; cat f", "f\nx\n"),
        ("touch f; chmod 600 f; stat -c %a f; chmod u+x,go=r f; stat -c %A f", "600\n-rwxr--r--\n"),
        ("touch f; chmod a-rwx f; stat -c %a f; chmod +x f; stat -c %a f", "0\n111\n"),
        (
            "printf hi > f; ln -s f l; cat l; mkdir d; ln -s ../f d; cat d/f; ln -sf d l; ls l",
            "hihif\n",
        ),
    ],
)
def test_file_tools_do_their_work(script: str, out: str) -> None:
    """Files are made, changed and removed as on a phone."""
    assert run(script) == (0, out, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("rm", 'rm: Needs 1 argument (see "rm --help")'),
        ("rm nope", "rm: nope: No such file or directory"),
        ("mkdir d; rm d", "rm: d: Is a directory"),
        ("rm -r /system", "rm: /system: Permission denied"),
        ("mkdir d; mkdir d", "mkdir: 'd': File exists"),
        ("mkdir a/b", "mkdir: 'a/b': No such file or directory"),
        ("touch /nope/x", "touch: '/nope/x': No such file or directory"),
        ("touch f; chmod zz f", "chmod: bad mode 'zz'"),
        ("chmod 600", 'chmod: Need 2 arguments (see "chmod --help")'),
        ("chmod 600 nope", "chmod: 'nope': No such file or directory"),
        ("touch f; ln f g", "ln: cannot create hard link: Operation not permitted"),
    ],
)
def test_file_tools_complain_as_on_a_phone(script: str, message: str) -> None:
    """Each names itself, the file, and the reason."""
    assert run(script) == (1, "", message + "\n")


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("echo x > f; chmod 0 f; wc -l f", (1, "", "wc: f: Permission denied\n")),
        ("touch f; chmod 222 f; [ -r f ] || echo no; [ -w f ] && echo yes", (0, "no\nyes\n", "")),
        ("echo x > f; chmod 444 f; cat f; rm f; ls", (0, "x\n", "")),
        ("mkdir d; chmod 700 d; stat -c %A d", (0, "drwx------\n", "")),
    ],
)
def test_permissions_are_respected(script: str, ended: tuple[int, str, str]) -> None:
    """What may not be read is not read; what is removed need not be writable."""
    assert run(script) == ended


def test_a_file_that_may_not_be_written_keeps_its_content() -> None:
    """Neither a redirection nor a tool changes it."""
    done = run("echo x > f; chmod a-w f; echo y > f; echo z >> f; dd of=f < /dev/null; cat f")

    assert done.out == "x\n"
    assert done.err.count("Permission denied") == 3
