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
