"""The portable commands, as the phone's own small tools do them."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.shell.io import Bytes
from pytest_clawperator.simulator.shell.shell import Invocation, Shell
from pytest_clawperator.simulator.shell.tools import TOOLS
from tests.simulator.shell.scripts import (
    DEADLINE,
    NOON,
    Ended,
    Flow,
    Gate,
    new_shell,
    run,
    run_in,
    soon,
    with_gate,
)

WANTED = (
    *("cat", "ls", "rm", "mkdir", "rmdir", "touch", "cp", "mv", "echo", "printf", "test", "["),
    *("head", "tail", "grep", "wc", "sort", "uniq", "cut", "tr", "sed", "sleep", "true", "false"),
    *("id", "date", "uname", "whoami", "pwd", "cd", "export", "env", "which", "xargs", "tee"),
    *("basename", "dirname", "base64", "md5sum", "sha1sum", "sha256sum", "stat", "df"),
)

ABC = "printf 'b\\na\\nb\\nc 1\\nc 02\\n' > f; "
TEXT = "printf 'foo\\nbar\\nFoo bar\\nbaz\\n' > f; printf 'foo2\\n' > g; "
PAIRS = "printf 'a b\\nc d\\ne f\\n' > f; "
FIELDS = "printf 'a:b:c\\nd\\ne:f\\n' > f; "

CASES = [
    # cat, head, tail
    (ABC + "cat f - < f | wc -l", "10\n"),
    ("printf 'x\\ty\\200\\n\\001' | cat -v; printf 'a\\tb\\n' | cat -et", "x\tyM-^@\n^Aa^Ib$\n"),
    (ABC + "head -n 2 f; head -2 f; head -c 3 f; head -n 0 f", "b\na\nb\na\nb\na"),
    (ABC + "head -n 1 f f; head -q -n 1 f f", "==> f <==\nb\n\n==> f <==\nb\nb\nb\n"),
    (ABC + "cat f | (head -n 1; cat) | wc -l", "5\n"),
    (ABC + "tail -n 2 f; tail -1 f; tail -n +5 f; tail -c 3 f", "c 1\nc 02\nc 02\nc 02\n02\n"),
    ("printf 'a\\r\\nb' | tail -n 1; printf 'a\\nb' | head -n 9", "ba\nb"),
    # wc, sort, uniq
    (ABC + "wc f; wc -l f; wc -w < f; wc -c f", "5 7 15 f\n5 f\n7\n15 f\n"),
    (ABC + "wc -l f f; printf 'é' | wc -m", "      5 f\n      5 f\n     10 total\n1\n"),
    ("printf '10\\n9\\n2\\n' | sort; printf '10\\n9\\n2\\n' | sort -n", "10\n2\n9\n2\n9\n10\n"),
    (
        "printf 'b\\nA\\na\\nb\\n' > f; sort f; sort -fu f; sort -r f | head -n 1",
        "A\na\nb\nb\nA\nb\nb\n",
    ),
    (
        "printf 'a:2\\nb:10\\nc:1\\n' | sort -t: -k2n; printf 'x 2\\ny 1\\n' | sort -k 2",
        "c:1\na:2\nb:10\ny 1\nx 2\n",
    ),
    (
        "printf 'a 1\\nb 1\\n' | sort -k2,2 -r; printf '1.10\\n1.9\\n' | sort -V",
        "b 1\na 1\n1.9\n1.10\n",
    ),
    (
        "printf 'a\\na\\nb\\na\\n' > f; uniq f; uniq -c f; uniq -d f",
        "a\nb\na\n      2 a\n      1 b\n      1 a\na\n",
    ),
    ("printf '1 a\\n2 a\\n3 b\\n' | uniq -f 1; printf 'a\\nA\\n' | uniq -iu", "1 a\n3 b\n"),
    (
        "seq 3; seq 2 2 6; seq 3 -1 1; seq -s , 3; seq 0.5 1",
        "1\n2\n3\n2\n4\n6\n3\n2\n1\n1,2,3\n0.5\n",
    ),
    # cut, tr, tee
    (FIELDS + "cut -d: -f1 f; cut -d : -f 2- f; cut -sd: -f2 f", "a\nd\ne\nb:c\n\nf\nb\nf\n"),
    (
        FIELDS + "cut -c1-2 f; cut -d: -f 3,1 f; printf 'é1\\n' | cut -c 2",
        "a:\nd\ne:\na:c\nd\ne\n1\n",
    ),
    ("echo abc | tr a-c A-C; echo hello | tr -d l; echo aabb | tr -s ab", "ABC\nheo\nab\n"),
    ("echo a1b2 | tr -cd 0-9; echo; echo 'a  b' | tr -s ' ' _; echo aé | tr é e", "12\na_b\nae\n"),
    ("printf 'a\\r\\nb\\r\\n' | tr -d '\\r'; echo ab | tr '[:lower:]' '[:upper:]'", "a\nb\nAB\n"),
    ("echo a | tee f g; echo b | tee -a f > /dev/null; cat f g", "a\na\nb\na\n"),
    # grep
    (
        TEXT + "grep foo f; grep -i foo f; grep -vc foo f; grep -n ba f",
        "foo\nfoo\nFoo bar\n3\n2:bar\n3:Foo bar\n4:baz\n",
    ),
    (
        TEXT + "grep foo f g; grep -h foo f g; grep -l foo f g; grep -L bar f g",
        "f:foo\ng:foo2\nfoo\nfoo2\nf\ng\ng\n",
    ),
    (
        TEXT + "grep -o 'ba.' f; grep -w foo f; grep -x bar f; grep -m 1 ba f",
        "bar\nbar\nbaz\nfoo\nbar\nbar\n",
    ),
    (TEXT + "grep -E 'foo|baz' f; grep -F . f; grep -e foo -e baz f", "foo\nbaz\nfoo\nbaz\n"),
    (
        TEXT + "grep 'o\\{2\\}$' f; grep '^[fF]oo' f; grep -E '(a)r?$' f",
        "foo\nfoo\nFoo bar\nbar\nFoo bar\n",
    ),
    (
        TEXT + "grep -A1 foo f; grep -B1 baz f; grep -nC1 bar f | head -n 2",
        "foo\nbar\nFoo bar\nbaz\n1-foo\n2:bar\n",
    ),
    ("seq 9 | grep -A1 -E '^[28]$'", "2\n3\n--\n8\n9\n"),
    (TEXT + "grep -q foo f && echo y; grep zz f || echo $?; grep -s a no || echo $?", "y\n1\n2\n"),
    (
        TEXT + "mkdir d; cp g d; grep -r foo2 .; grep -on a g f",
        "./d/g:foo2\n./g:foo2\nf:2:a\nf:3:a\nf:4:a\n",
    ),
    ("printf 'abab\\n' | grep '\\(ab\\)\\1'; printf 'a\\nb\\n' | grep 'a\nb'", "abab\na\nb\n"),
    # sed
    (PAIRS + "sed 's/a/X/' f; sed -n 's/c/Y/p' f; sed 2d f", "X b\nc d\ne f\nY d\na b\ne f\n"),
    (
        PAIRS + "sed -n 2p f; sed -n '2,$p' f; sed '/c/d' f; sed 2q f",
        "c d\nc d\ne f\na b\ne f\na b\nc d\n",
    ),
    (
        PAIRS + "sed 's/\\(.\\) \\(.\\)/\\2 \\1/;1!d' f; sed -E 's/(.) (.)/\\2\\1/;2,3d' f",
        "b a\nba\n",
    ),
    (PAIRS + "sed 's/[a-z]/(&)/g;2,$d' f; sed -n 's/[a-z]/Z/2p' f | head -n 1", "(a) (b)\na Z\n"),
    (
        PAIRS + "sed -n '$=' f; sed 's,a b,/,;2,$d' f; sed '/c/s//Q/' f | tail -n 2",
        "3\n/\nQ d\ne f\n",
    ),
    (
        PAIRS + "sed -e 1d -e 2d f; sed 'y/ace/xyz/' f; sed 's/A/z/I' f | head -n 1",
        "e f\nx b\ny d\nz f\nz b\n",
    ),
    (PAIRS + "sed -i 's/a/I/;$d' f; cat f; printf 'no end' | sed 's/n/N/g'", "I b\nc d\nNo eNd"),
    ("echo 'versionName=1.2.3 x' | sed -n 's/.*versionName=\\([^ ]*\\).*/\\1/p'", "1.2.3\n"),
    ("echo aXb | sed 's/X/\\n/;s/a/\\&/'; echo xx | sed 's/x*/-/g'", "&\nb\n-\n"),
    # printf, date
    (
        "printf '%s|%5d|%-5d|%05d|%x|%o|%c|%%|%.2s\\n' a 1 2 3 255 8 xyz abc",
        "a|    1|2    |00003|ff|10|x|%|ab\n",
    ),
    ("printf '%s\\n' a b; printf '%s-%s;' a b c; printf '%b' 'x\\ty\\c' z", "a\nb\na-b;c-;x\ty"),
    (
        "printf '%d %d %d\\n' 0x10 010 \"'a\"; printf '%i %u\\n' -1 5; printf '%*d|\\n' 4 7",
        "16 8 97\n-1 5\n   7|\n",
    ),
    (
        "printf '\\101\\x42\\u0043\\n'; printf '%.2f %g %e\\n' 1.005 0.5 2; printf a\\\\n",
        "AB\\u0043\n1.00 0.5 2.000000e+00\na\n",
    ),
    (
        "date; date +%s; date '+%F %T.%N %a %j'",
        "Sat Mar 28 10:00:00 GMT 2026\n1774692000\n2026-03-28 10:00:00.500000000 Sat 087\n",
    ),
    (
        "date -d @0 '+%D %R %p %I %y %b%n%%'; date -d '2020-01-02 03:04:05' +%s",
        "01/01/70 00:00 AM 12 70 Jan\n%\n1577934245\n",
    ),
    # files
    (
        "mkdir -p a/b; touch a/f a/.h; ls a; ls -A a; ls -F a; ls -d a; ls -m a",
        "b\nf\n.h\nb\nf\nb/\nf\na\nb, f\n",
    ),
    ("mkdir d; touch d/f e; ls; ls d e; ls -R", "d\ne\ne\n\nd:\nf\n.:\nd\ne\n\n./d:\nf\n"),
    ("printf abc > b; touch -d @5 a; ls -t; ls -tr; ls -S; ls -r", "b\na\na\nb\nb\na\nb\na\n"),
    (
        "printf abc > f; touch -d '2020-01-02 03:04' f; ls -l f",
        "-rw-r--r-- 1 shell shell 3 2020-01-02 03:04 f\n",
    ),
    (
        "touch -d @0 f; mkdir d; touch -d @0 d; ls -l | cut -c 11-",
        "\n 2 shell shell 4096 1970-01-01 00:00 d\n 1 shell shell    0 1970-01-01 00:00 f\n",
    ),
    (
        "ls -ld /sdcard | cut -d ' ' -f 1,3,4,8-; ls -a /data/local",
        "lrwxrwxrwx root root /sdcard -> /storage/emulated/0\n.\n..\ntmp\n",
    ),
    ("head -c 1536 /dev/null; printf '%2000s' x > f; ls -lh f | cut -d ' ' -f 5", "2.0K\n"),
    ("touch a b; rm a; ls; mkdir -p d/e; rm -r d b; ls; rm -f nope; rm -rf nope", "b\n"),
    ("mkdir -p a/b a/b; rmdir a/b; ls a; mkdir -v c; rmdir -p a", "mkdir: created directory 'c'\n"),
    ("printf hi > f; cp f g; mkdir d; cp f g d; ls d; cp -r d e; cat e/g; cp f d/", "f\ng\nhi"),
    (
        "printf hi > f; mv f g; mkdir d; mv g d; ls d; mv d e; ls; touch q; mv -n q e/g; ls",
        "g\ne\ne\nq\n",
    ),
    (
        "touch f; chmod 600 f; stat -c %a f; chmod u+x,go=r f; stat -c %A f; chmod -x f; "
        "stat -c %a f",
        "600\n-rwxr--r--\n644\n",
    ),
    (
        "printf hi > f; ln -s f l; cat l; readlink l; readlink -f l; realpath l",
        "hif\n/data/local/tmp/f\n/data/local/tmp/f\n",
    ),
    (
        "printf hi > f; stat -c '%n %s %F %U %Y %%' f; stat -c %F . /dev/null",
        "f 2 regular file shell 1774692000 %\ndirectory\ncharacter special file\n",
    ),
    ("touch a; touch -d @7 b; touch -r b a; stat -c %Y a; touch -c none; ls", "7\na\nb\n"),
    (
        "touch -t 202001020304 f; stat -c '%y' f; stat f | sed -n 1,2p",
        "2020-01-02 03:04:00.000000000 +0000\n  File: f\n"
        "  Size: 0\t Blocks: 0\t IO Blocks: 512\t regular file\n",
    ),
    (
        "mkdir -p a/b; touch a/f a/b/g; find a; find a -type f -name '[fg]'; "
        "find a -maxdepth 1 -mindepth 1",
        "a\na/b\na/b/g\na/f\na/b/g\na/f\na/b\na/f\n",
    ),
    (
        "basename /a/b.txt .txt; basename /; basename -s .x a.x b.x; dirname /a/b a /",
        "b\n/\na\nb\n/a\n.\n/\n",
    ),
    # bytes
    (
        "printf 'hello\\n' | base64; echo aGVsbG8K | base64 -d; printf abcdef | base64 -w 4",
        "aGVsbG8K\nhello\nYWJj\nZGVm\n",
    ),
    (
        "printf abc > f; md5sum f; sha1sum -b f",
        "900150983cd24fb0d6963f7d28e17f72  f\na9993e364706816aba3e25717850c26c9cd0d89d\n",
    ),
    # processes and the system
    (
        "echo 'a b  c' | xargs; echo a b | xargs -n 1 echo x; "
        "printf 'a b\\0c' | xargs -0 -n1; xargs -r echo < /dev/null",
        "a b c\nx a\nx b\na b\nc\n",
    ),
    (
        "env -i A=1 B=2 env; A=5 env | grep ^A=; env X=7 sh -c 'echo $X'; printenv HOME",
        "A=1\nB=2\nA=5\n7\n/\n",
    ),
    (
        "timeout 5 echo hi; timeout 0.01 sleep 9; echo $?; timeout 5 false; echo $?; nohup echo x",
        "hi\n124\n1\nx\n",
    ),
    (
        "which ls cat; which nope || echo $?; whoami; id -u; id -un; pwd -P",
        "/system/bin/ls\n/system/bin/cat\n1\nshell\n2000\nshell\n/data/local/tmp\n",
    ),
    (
        "uname; uname -m; uname -sm; id | cut -d ' ' -f 1",
        "Linux\naarch64\nLinux aarch64\nuid=2000(shell)\n",
    ),
    (
        "sh -c 'echo $0 $1' a b; echo 'echo $1' > s; sh s x; echo 'echo in' | sh; "
        "sh -e -c 'false; echo no' || echo $?",
        "a b\nx\nin\n1\n",
    ),
    ("cd /sdcard; pwd; pwd -P; cd ..; pwd; cd -", "/sdcard\n/storage/emulated/0\n/\n/sdcard\n"),
]


def test_everything_wanted_is_there() -> None:
    """Each promised command has its place in the table."""
    assert set(WANTED) <= set(TOOLS)


@pytest.mark.parametrize(("script", "out"), CASES)
def test_tools_do_their_work(script: str, out: str) -> None:
    """What a tool prints is what the phone's prints."""
    assert run(script) == (0, out, "")


COMPLAINTS = [
    ("cat nope", 1, "/system/bin/sh: cat: nope: No such file or directory"),
    ("cat -e nope", 1, "cat: nope: No such file or directory"),
    ("cat -z", 1, "cat: Unknown option 'z' (see \"cat --help\")"),
    ("head -n x", 1, "head: not integer: x"),
    ("head -n", 1, 'head: Missing argument to -n (see "head --help")'),
    ("tail nope", 1, "tail: nope: No such file or directory"),
    ("ls nope", 1, "ls: nope: No such file or directory"),
    ("rm", 1, 'rm: Needs 1 argument (see "rm --help")'),
    ("rm nope", 1, "rm: nope: No such file or directory"),
    ("mkdir d; rm d", 1, "rm: d: Is a directory"),
    ("rm -r /system", 1, "rm: /system: Permission denied"),
    ("mkdir d; mkdir d", 1, "mkdir: 'd': File exists"),
    ("mkdir a/b", 1, "mkdir: 'a/b': No such file or directory"),
    ("mkdir -p a/b; rmdir a", 1, "rmdir: a: Directory not empty"),
    ("touch /nope/x", 1, "touch: '/nope/x': No such file or directory"),
    ("cp a", 1, "cp: Needs 2 arguments"),
    ("cp nope x", 1, "cp: bad 'nope': No such file or directory"),
    ("touch a b; cp a b c", 1, "cp: 'c' not directory"),
    ("mkdir d; cp -r d d/e", 1, "cp: 'd' into itself"),
    ("mv nope x", 1, "mv: bad 'nope': No such file or directory"),
    ("touch f; chmod zz f", 1, "chmod: bad mode 'zz'"),
    ("stat nope", 1, "stat: 'nope': No such file or directory"),
    ("find nope", 1, "find: 'nope': No such file or directory"),
    ("find . -exec rm", 1, "find: bad arg '-exec'"),
    ("grep", 2, "grep: no REGEX"),
    ("grep a nope", 2, "grep: nope: No such file or directory"),
    ("grep -E '(' f", 2, "grep: bad regex '(': Unmatched ( or )"),
    ("sed", 1, "sed: no pattern"),
    ("sed p nope", 1, "sed: nope: No such file or directory"),
    ("cut f", 1, 'cut: Needs -fcb (see "cut --help")'),
    ("tr a < /dev/null", 1, 'tr: Needs 2 arguments (see "tr --help")'),
    ("printf", 1, 'printf: Needs 1 argument (see "printf --help")'),
    ("printf %q", 1, "printf: bad %q@2"),
    ("date -d foo", 1, "date: bad date foo"),
    ("date 010203042020", 1, "date: cannot set date: Operation not permitted"),
    ("base64 -d < /dev/null; echo a | base64 -d", 1, "base64: bad input"),
    ("echo a | xargs nope", 127, "xargs: exec nope: No such file or directory"),
    ("sleep", 1, "/system/bin/sh: sleep: syntax error"),
    ("sleep 1m", 1, "/system/bin/sh: sleep: syntax error: Invalid argument '1m'"),
    ("echo x | tee /nope/f > /dev/null", 1, "tee: /nope/f: No such file or directory"),
]


@pytest.mark.parametrize(("script", "status", "message"), COMPLAINTS)
def test_tools_complain_as_on_a_phone(script: str, status: int, message: str) -> None:
    """Each says its name, what it stumbled over, and why; the status tells that it failed."""
    assert run(script) == (status, "", message + "\n")


def test_a_bad_number_is_reported_and_counts_as_zero() -> None:
    """The rest of a format is still printed."""
    assert run("printf '%d %d\\n' x 12y") == (1, "0 12\n", "printf: bad %d x\nprintf: bad %d 12y\n")


def test_room_on_the_device() -> None:
    """The room there is shows as the file system has it."""

    async def scenario() -> Ended:
        files = FileSystem(clock=lambda: NOON, capacity_bytes=10 * 1024 * 1024)
        files.write("/sdcard/f", b"x" * (5 * 1024 * 1024))
        return await run_in(Shell(TOOLS, files), "df -h /sdcard; df | tail -n 2")

    assert asyncio.run(scenario()).out.splitlines() == [
        "Filesystem Size Used Avail Use% Mounted on",
        "/dev/fuse   10M 5.0M  5.0M  50% /storage/emulated",
        "/dev/block/dm-5     10240  5120      5120  50% /data",
        "/dev/fuse           10240  5120      5120  50% /storage/emulated",
    ]


def test_many_lines_pass_through_long_pipes() -> None:
    """Large texts come through whole."""
    script = (
        "seq 1 50000 | cat | grep -v 7 | sed 's/^/x/' | sort | uniq | tail -n 1; seq 200000 | wc"
    )

    assert run(script).out == "x9999\n 200000  200000 1288895\n"


@pytest.mark.parametrize(
    ("tool", "out"),
    [
        ("grep a", b"a1\n"),
        ("sed s/a/b/", b"b1\n"),
        ("cut -c1", b"a\n"),
        ("tr a b", b"b1\n"),
        ("head -n 5", b"a1\n"),
        ("tee f", b"a1\n"),
        ("cat", b"a1\n"),
    ],
)
def test_filters_pass_on_what_they_have(tool: str, out: bytes) -> None:
    """A line that came is passed on before the next one comes."""

    async def scenario(gate: Gate) -> None:
        flow = Flow()
        shell = new_shell(gate=gate)
        script = f"{{ echo a1; gate; }} | {tool}"
        work = asyncio.create_task(shell.run(script, Bytes(), flow, flow))
        await flow.until(out)
        assert not work.done()
        work.cancel()
        await asyncio.wait([work])

    with_gate(scenario)


def test_a_search_that_is_answered_ends_its_source() -> None:
    """When ``grep -m`` has enough, what feeds it ends at its next word."""
    assert run("while :; do echo needle; done | grep -m 1 needle; echo end").out == "needle\nend\n"


def test_sleep_can_be_cancelled() -> None:
    """A sleeping command ends at once when its run is cancelled."""

    async def scenario() -> None:
        flow = Flow()
        script = "echo ready; sleep 1000"
        work = asyncio.create_task(new_shell().run(script, Bytes(), flow, flow))
        await flow.until(b"ready")
        work.cancel()
        await soon(asyncio.wait([work]))
        assert work.cancelled()

    asyncio.run(asyncio.wait_for(scenario(), DEADLINE))


# Against the same tools of this machine, and of Python


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab1 "), max_size=5), max_size=8), st.integers(0, 9))
def test_line_tools_agree_with_this_machines(lines: list[str], count: int) -> None:
    """Choosing, sorting and counting lines gives the same here and there."""
    data = "".join(line + "\n" for line in lines).encode()
    script = (
        f"cat > f; sort f; echo -; sort -u f; echo -; uniq f; echo -; head -n {count} f; echo -; "
        f"tail -n {count} f; echo -; grep -n a f; echo -; grep -v b f; echo -; sed 's/a/[&]/g' f; "
        f"echo -; tr ab xy < f; echo -; cut -c1-2 f; echo -; wc -l < f | tr -d ' '; rm f"
    )

    assert run(script, data).out == here(script, data)


def here(script: str, stdin: bytes) -> str:
    """Run a script on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            input=stdin,
            capture_output=True,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            check=False,
        )
    return done.stdout.decode()


@given(st.binary(max_size=300))
def test_encodings_agree_with_pythons(data: bytes) -> None:
    """Checksums and base64 are right for any bytes."""

    async def feed(invocation: Invocation) -> int:
        await invocation.stdout.write(data)
        return 0

    ended = run("feed | md5sum; feed | sha1sum; feed | sha256sum", feed=feed)
    again = run("feed | base64 | base64 -d | sha1sum; feed | cat | sha1sum", feed=feed)

    digests = [line.split()[0] for line in ended.out.splitlines()]
    assert digests == [
        hashlib.md5(data).hexdigest(),
        hashlib.sha1(data).hexdigest(),
        hashlib.sha256(data).hexdigest(),
    ]
    assert [line.split()[0] for line in again.out.splitlines()] == [digests[1]] * 2


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(set(TOOLS) - {"sleep", "timeout", "sh"})),
    st.lists(
        st.sampled_from(
            ["-", "--", "-n", "-c", "-f", "-l", "-r", "-1", "f", "/", ".", "", "s/a/b/", "+3"]
        )
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
        max_size=4,
    ),
)
def test_no_arguments_break_a_tool(tool: str, arguments: list[str]) -> None:
    """Whatever a tool is called with, it ends with a status of its own."""
    quoted = " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)

    ended = run(f"echo a > f; {tool} {quoted}", b"line\n")

    assert 0 <= ended.status <= 255
    assert "internal error" not in ended.err
