"""The device's shell: quoting, expansion, control flow, pipes, jobs, and hostile scripts."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.shell import Invocation
from tests.simulator.shell.scripts import (
    DEADLINE,
    FOLDER,
    NOON,
    Ended,
    new_shell,
    run,
    run_in,
)


def real_sh(script: str, folder: Path, stdin: bytes = b"") -> Ended:
    """Run a script in this machine's own shell."""
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        timeout=DEADLINE,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode("utf-8", "surrogateescape"))


# Words, against the shell of this machine

VARIABLES = "x='a b'; y=; z='*'; w=' lead  trail '; n='1\n2'; unset u; set -- p 'q r' ''; "

text_characters = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0'")
    | st.sampled_from(' \t\n$`"\\;&|<>()#*?[]{}=~!😀é'),
    max_size=6,
)
single_quoted = text_characters.map(lambda text: f"'{text}'")
escaped = st.sampled_from(list(" $`\"'\\;&|<>()#*?[]{}~!a😀\n")).map(lambda key: "\\" + key)
bare = st.sampled_from(["a", "b1", "-", "=", "a=b", "%", "é", "😀", "a#b", "]", "}", ",", "."])
names = st.sampled_from(["x", "y", "z", "w", "n", "u", "1", "2", "3", "9", "#"])
plain_parameter = names.map("${}".format) | names.map("${{{}}}".format)
operated = st.tuples(
    st.sampled_from("xyzwnu19"),
    st.sampled_from([":-", "-", ":+", "+"]),
    st.sampled_from(["", "d", "d e", "$x", "'q  r'", '"$w"']),
).map(lambda parts: "${{{}{}{}}}".format(*parts))
trimmed = st.tuples(
    st.sampled_from("xwn1"),
    st.sampled_from(["#", "##", "%", "%%"]),
    st.sampled_from(["a", "a*", "*", "?", "[a-z]", "'*'", '"$z"', "$z", "* "]),
).map(lambda parts: "${{{}{}{}}}".format(*parts))
parameters = plain_parameter | operated | trimmed


@st.composite
def double_quoted(draw: st.DrawFn, depth: int) -> str:
    """Give a word in double quotes, with everything that means something inside them."""
    plain = st.text(st.sampled_from("ab '#*;&|(){}~é😀\t\n"), max_size=3)
    slashed = st.sampled_from(['\\"', "\\$", "\\`", "\\\\", "\\\n", "\\a", "\\ ", "\\'"])
    inner = [plain, slashed, plain_parameter.map(str), st.just("$ ")]
    if depth:
        inner.append(substitution(depth - 1))
    return '"' + "".join(draw(st.lists(st.one_of(inner), max_size=3))) + '"'


@st.composite
def substitution(draw: st.DrawFn, depth: int) -> str:
    """Give a command substitution."""
    words = draw(st.lists(whole_word(depth), max_size=2))
    return f"$(printf '%s' {' '.join(words)})"


@st.composite
def whole_word(draw: st.DrawFn, depth: int) -> str:
    """Give a word made of pieces that touch."""
    pieces = [single_quoted, escaped, bare, parameters, double_quoted(depth), st.just('""')]
    if depth:
        pieces.append(substitution(depth - 1))
    return "".join(draw(st.lists(st.one_of(pieces), min_size=1, max_size=3)))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(whole_word(2) | st.sampled_from(['"$@"', '"$*"', "$@"]), max_size=4))
def test_words_expand_as_in_the_shell_of_this_machine(words: list[str], tmp_path: Path) -> None:
    """Any mixture of quotes, escapes and expansions gives the same arguments."""
    script = f"{VARIABLES}printf '<%s>' {' '.join(words)}"

    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


def quoted_as_adb_clients_do(value: str) -> str:
    """Quote a value the way hosts do before they send a command."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_value_quoted_by_a_host_arrives_unchanged(value: str) -> None:
    """Quotes, dollars, backquotes, newlines and emoji all survive."""
    got: list[str] = []

    async def take(invocation: Invocation) -> int:
        got.extend(invocation.args[1:])
        return 0

    run(f"am broadcast --es 'payload' {quoted_as_adb_clients_do(value)} --last", am=take)

    assert got == ["broadcast", "--es", "payload", value, "--last"]


@pytest.mark.parametrize("filler", ["x", "'", '\\"', "😀", "$(", "`"])
def test_a_large_argument_arrives_whole(filler: str) -> None:
    """Sixty thousand characters are one argument, whatever they are."""
    value = filler * (60_000 // len(filler))

    assert run(f"printf %s {quoted_as_adb_clients_do(value)} | wc -m").out == f"{len(value)}\n"


# Scripts, against the shell of this machine

SCRIPTS = [
    "echo a; echo b && echo c || echo d; false && echo e; false || echo f",
    "true; echo $?; false; echo $?; (exit 7); echo $?; exit 3",
    "! true; echo $?; ! false; echo $?; ! false && echo y",
    "if false; then echo a; elif true; then echo b; else echo c; fi",
    "if true\nthen echo b\nfi; if (false) then echo n; else echo m; fi",
    "for i in a 'b c' $nope d; do printf '<%s>' \"$i\"; done",
    "for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done; echo end $i",
    "for i in 1 2; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; done; done",
    'set -- x \'y z\'; for i; do echo "[$i]"; done; for i in "$@"; do echo $i; done',
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done; until [ $i = 0 ]; do i=$((i-1)); done",
    "while :; do break; done; echo $?; while false; do :; done; echo $?",
    "case abc in x) echo 1;; a*c) echo 2;; *) echo 3;; esac",
    "case 'a b' in a\\ b) echo y;; esac; case x in (x|y) echo z; esac",
    "x='a*'; case abc in $x) echo pattern;; esac",
    "x='a*'; case abc in \"$x\") echo no;; *) echo text;; esac",
    "case ']' in []a]) echo y;; esac; case b in [!a]) echo y;; esac; case a in ?) echo y;; esac",
    "{ echo a; echo b; } | cat; (echo c; exit 2); echo $?",
    "x=1; (x=2; echo $x); echo $x; { x=3; }; echo $x; echo a | read x; echo $x",
    "a=1 b=2; echo $a$b; a=3 true; echo $a; a=4 :; echo $a",
    "f() { echo $# $1 \"$2\"; return 3; }; f a 'b c'; echo $?; f; echo $?",
    "f() { [ $1 = 0 ] || { echo $1; f $(($1-1)); }; }; f 3",
    "echo $(echo a; echo b) \"$(printf 'c\\n\\n')\" `echo d`",
    "x=$(false); echo $?; x=$(printf 'q\\n'); echo \"<$x>\"",
    'echo "$(echo "$(echo "a  b")")" $(echo ")") $(case a in a) echo x;; esac)',
    'echo `echo \\`echo deep\\`` "`echo "a b"`"',
    'echo a | cat | cat | (read x; echo "[$x]")',
    "printf 'l1\\nl2\\n' | { read a; read b; echo $b$a; }",
    "printf 'a b  c \\n d\\n' | while read -r x y; do printf '<%s>' \"$x\" \"$y\"; done",
    "printf 'a\\\\\\nb c\\\\ d\\n' | { read x y; printf '<%s>' \"$x\" \"$y\"; }",
    "printf 'a:b::c\\n' | { IFS=: read x y z; printf '<%s>' $x $y \"$z\"; }",
    "IFS=:; x=a:b::c:; printf '<%s>' $x",
    "IFS=; x='a b'; printf '<%s>' $x; unset IFS; printf '<%s>' $x",
    "IFS=': '; x=' a : b:: c '; printf '<%s>' $x",
    'IFS=-; set -- a b; echo "$*" $*; x=$*; echo "$x"',
    "set --; printf '<%s>' \"$@\"; printf '<%s>' \"x$@\"; printf '<%s>' \"$*\" '' $nope",
    "set -- 1 2; printf '<%s>' \"a$@b\" a$@b; shift; echo $# $1; shift; echo $#",
    "set -- a b c d e f g h i j k; echo $11 ${11} ${#} ${#11}",
    "x=abc; echo ${x:-d} ${y:-d} ${y-e} ${x:+s} ${y:+s} ${y:=new} $y ${#x}",
    "x=/a/b/c.txt; echo ${x##*/} ${x#*/} ${x%/*} ${x%%/*} ${x%.txt}",
    'x=\'a*c\'; echo "${x#a\\*}" "${x#"a*"}" ${x#\'a*\'} "${x%\'c\'}"',
    "echo $((1+2*3)) $(((1+2)*3)) $((7/2)) $((-7/2)) $((-7%3)) $((1<2&&3>2)) $((1?5:6)) $((!0))",
    "a=5; echo $((a+1)) $(($a*2)) $((a=7)) $a $((a+=3)) $a $((0x1f)) $((~1)) $((6&3|8^1))",
    "echo one > f; echo two >> f; cat f; cat < f; cat < f > g; cat g; echo 3 > f; cat f",
    "echo out; echo err >&2; { echo a; echo b >&2; } 2>&1 | cat; (echo c >&2) 2>/dev/null",
    "echo a 2>&1 >f | cat; cat f; echo x > f 2>&1; cat f; exec 3>f; echo y >&3; exec 3>&-; cat f",
    "cat nope 2>/dev/null; echo $?; echo a > no/such || echo failed; echo $?",
    'cat <<EOF\n$((1+1)) `echo b` $(echo c) \\$x "q" \\\\ \\a\nEOF\necho after',
    "cat <<'EOF'\n$x `a` \\n\nEOF\ncat <<-EOF\n\ttabbed\n\tEOF\ncat <<\\E\n$y\nE",
    "cat <<A; cat <<B\n1\nA\n2\nB\nif true; then cat <<C\nin\nC\nfi",
    'x=$(cat <<EOF\nnested $(echo y)\nEOF\n); echo "$x"; cat <<EOF | cat && echo z\nhi\nEOF',
    "f() { cat <<EOF\narg $1\nEOF\n}; f 1; f 2",
    "echo 'multi\nline' \"two\nlines\" # comment ' \" `\necho next #x\n#y\necho a#b",
    "ec\\\nho joined \"a\\\nb\" 'a\\\nb' && \\\necho more",
    "echo a;echo b;\n\n\necho c;",
    "(echo sub) | cat; { echo group\n} | cat; ( (echo twice) )",
    "eval 'x=5; echo $x'; eval echo '$x' '\"a  b\"'; eval \"echo \\$x\"; eval; echo $?",
    "export A=1; sh -c 'echo $A'; B=2 sh -c 'echo $B'",
    "sh -c 'echo $0 $1 $#' n a b; sh -c 'exit 4'; echo $?",
    "echo 'echo sourced $x; y=7' > s; x=1; . ./s; echo $y; sh ./s",
    "set -e; if false; then :; fi; false || true; ! true; echo here; false; echo not",
    "set -e; f() { false; echo inside; }; f || echo caught; (exit 3); echo not",
    "set -u; echo ${x-ok}; (echo $x) 2>/dev/null; echo $? > f; [ -s f ] && echo end",
    "set -f; echo *; set +f; echo none* > f; echo f*",
    "trap 'echo bye $?' EXIT; echo hi; exit 4",
    "trap 'echo outer' EXIT; (echo sub); false",
    "true & wait $!; echo $?; false & wait $!; echo $?; (exit 5) & wait; echo $?",
    "(sleep 0.02; echo late) & echo early; wait; echo end",
    "echo $(sleep 0.02 & echo x); { (sleep 0.02; echo b) & echo a; } | cat",
    'test a = a -a b = b; echo $?; [ ! a = a ]; echo $?; [ -n "" ]; echo $?; [ -z "" ]; echo $?',
    "[ 5 -gt 3 ]; echo $?; [ 3 -ge 4 ]; echo $?; [ a != b ]; echo $?; [ ]; echo $?; [ x ]; echo $?",
    "echo > f; [ -f f ] && [ -s f ] && [ -e f ] && [ ! -d f ] && [ -d . ] && [ ! -e no ]; echo $?",
    "touch b a ab .h; mkdir d; touch d/f; printf '<%s>' * ? [ab] a* [!a]* nope* 'a*' a\\*",
    "touch b a .h; mkdir d; touch d/f; printf '<%s>' */* ./a* d/* */ .[!.]*",
    "touch 'x y' z; printf '<%s>' x* \"x y\" 'x '* ?\\ ?; for f in *; do echo \"$f\"; done",
    'unset x; echo "${x-unset}"; x=; echo "${x-unset}""${x:-empty}"; readonly r=1; echo $r',
    "f() { :; }; unset -f f; f 2>/dev/null; echo $?; $nope; echo $?; $nope echo words",
    "cd /; pwd; cd /nope 2>/dev/null || echo failed; pwd",
    "x='$y'; y=z; echo $x \"$x\" '$x'; echo \\$x \"\\$x\" \\\\ '\\\\'",
    "echo \"a'b\" 'a\"b' \"a\\\"b\" a\\'b 'it'\\''s' 'it'\"'\"'s' \"\" ''",
    'echo ${x:-"a b"} "${x:-a b}" ${x:-\'c  d\'} "${x:-$(echo e)}"',
    "nope 2>/dev/null; echo $?; command -v nope || echo no; command echo hi; type cat >/dev/null",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same script writes the same and ends with the same status."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


# What Android's shell does differently from others

ANDROID = [
    ("echo $((2147483647+1)) $((010)) $((2#101))", "-2147483648 10 5\n"),
    ("echo 'a\\tb\\0101\\x41\\u00e9'; echo -E 'a\\t'; echo -n x", "a\tbAAé\na\\t\nx"),
    ("echo 'a\\c'; echo b", "ab\n"),
    ("printf '<%s>' $'a\\tb' $'\\x41\\101\\u20ac' $'it\\'s'", "<a\tb><AA€><it's>"),
    ("printf '<%s>' $'$x`y`\"'", '<$x`y`">'),
    ("printf '<%s>' \"$'z'\" $'a\\0b' $'\\cA\\e' $'\\xc3\\xa9'", "<$'z'><a><\x01\x1b><é>"),
    ("echo {a,b}{c,d} x{1,2}y {a} {a,}", "ac ad bc bd x1y x2y {a} a \n"),
    ("echo '{a,b}' \\{a,b}", "{a,b} {a,b}\n"),
    ('x=\'{a,b}\'; echo $x "$x"; echo {"a":1,"b":2}', "a b {a,b}\na:1 b:2\n"),
    ("x=abcdef; echo ${x:1:2} ${x: -2} ${x:4}", "bc ef ef\n"),
    ("x=abcdef; echo ${x/b/X} ${x//[ace]/-} ${x/#a/Y} ${x/%f/Z}", "aXcdef -b-d-f Ybcdef abcdeZ\n"),
    ("[[ -z $(echo) && abc == a* && ! a = b ]] && echo booted", "booted\n"),
    ("[[ abc == 'a*' || ( 2 -lt 10 && b > a ) ]] && echo yes", "yes\n"),
    ("i=1; ((i+=2)); echo $i; ((0)); echo $?; let i=i*2; echo $i", "3\n1\n6\n"),
    ("cat <<<'here $x'; echo a &>f; cat f; a=1; a+=2; echo $a", "here $x\na\n12\n"),
    ("case a in a) echo 1;& b) echo 2;; c) echo 3;; esac", "1\n2\n"),
    ("f() { local x=1; echo $x; }; x=9; f; echo $x", "1\n9\n"),
    ("set -o pipefail; false | true; echo $?; a | ! false; echo $?", "1\n127\n"),
    ("echo 12>f; cat f; echo 2>f; cat f", "12\n\n"),
    ("x='a b'; export A=$x; local B=$x; echo \"$A$B\"", "a ba b\n"),
    ("command -v cat ls if", "cat\n/system/bin/ls\nif\n"),
    ("type ls; type nope", "ls is a tracked alias for /system/bin/ls\nnope not found\n"),
    ("type if; type echo", "if is a reserved word\necho is a shell builtin\n"),
]


@pytest.mark.parametrize(("script", "out"), ANDROID)
def test_what_the_shell_of_a_phone_does_in_its_own_way(script: str, out: str) -> None:
    """Extensions and habits are those of Android's shell."""
    assert run(script).out == out


COMPLAINTS = [
    ("nope", 127, "nope: inaccessible or not found"),
    ("./nope a", 127, "./nope: inaccessible or not found"),
    ("/data", 126, "/data: can't execute: Is a directory"),
    ("echo x > f; ./f", 126, "./f: can't execute: Permission denied"),
    ("printf '\\177ELF' > f; chmod +x f; ./f", 126, "./f: not executable: 64-bit ELF file"),
    ("''", 126, ": can't execute: Is a directory"),
    ("cat < nope", 1, "can't open nope: No such file or directory"),
    ("cat < ''", 1, "can't open : No such file or directory"),
    ("echo > no/such", 1, "can't create no/such: No such file or directory"),
    ("echo > .", 1, "can't create .: Is a directory"),
    ("echo > /system/x", 1, "can't create /system/x: Read-only file system"),
    ("echo a >&5", 1, ">&5 : bad file descriptor"),
    ("echo a >&x", 1, ">&x : illegal file descriptor name"),
    ("echo ${x?}; echo no", 1, "x: parameter null or not set"),
    ("echo ${x:?say what}", 1, "x: say what"),
    ("echo ${x!y}", 1, "${x!y}: bad substitution"),
    ("set -u; echo $x", 1, "x: parameter not set"),
    ("set -z", 1, "set: -z: unknown option"),
    ("readonly r=1; r=2; echo no", 2, "read-only: r"),
    ("export 1=2", 1, "export: 1=2: is not an identifier"),
    ("cd nope", 2, f"cd: {FOLDER}/nope: No such file or directory"),
    ("exit abc", 1, "exit: bad number: abc"),
    ("shift", 1, "shift: nothing to shift"),
    ("break", 0, "break: can't break"),
    (". nope; echo no", 1, ".: nope: No such file or directory"),
    ("[ a", 2, "[: missing ]"),
    ("[ a -foo b ]", 2, "[: -foo: unexpected operator/operand"),
    ("test a =", 2, "test: =: missing second argument"),
    ("echo $((1/0))", 1, "1/0: zero divisor"),
    ("echo $((1 +))", 1, "1 +: unexpected 'end of expression'"),
]


@pytest.mark.parametrize(("script", "status", "message"), COMPLAINTS)
def test_complaints_read_as_on_a_phone(script: str, status: int, message: str) -> None:
    """The shell names itself, what it stumbled over, and why."""
    assert run(script) == (status, "", f"/system/bin/sh: {message}\n")


def test_tracing_shows_what_runs() -> None:
    """Each command is shown with its words quoted again."""
    assert run("set -x; x=1; echo 'a b' $x").err == "+ x=1 \n+ echo 'a b' 1\n"


SYNTAX_ERRORS = [
    ("for; do", "syntax error: unexpected ';'"),
    (")", "syntax error: unexpected ')'"),
    ("a;;b", "syntax error: unexpected ';;'"),
    ("a ; ; b", "syntax error: unexpected ';'"),
    ("| a", "syntax error: unexpected '|'"),
    ("a && ; b", "syntax error: unexpected ';'"),
    ("a | | b", "syntax error: unexpected '|'"),
    ("& a", "syntax error: unexpected '&'"),
    ("fi", "syntax error: unexpected 'fi'"),
    ("a; done", "syntax error: unexpected 'done'"),
    ("}", "syntax error: unexpected '}'"),
    ("if true; fi", "syntax error: unexpected 'fi'"),
    ("if true; then fi", "syntax error: unexpected 'fi'"),
    ("for i a", "syntax error: unexpected 'a'"),
    ("for i in a; b", "syntax error: unexpected 'b'"),
    ("for 1 in a; do :; done", "for: bad identifier"),
    ("case a b", "syntax error: unexpected 'b'"),
    ("case a in ;; esac", "syntax error: unexpected ';;'"),
    ("echo a(b)", "syntax error: unexpected '('"),
    ("echo a |", "syntax error: unexpected EOF"),
    ("echo a &&", "syntax error: unexpected EOF"),
    ("echo >", "syntax error: unexpected EOF"),
    ("!", "syntax error: unexpected EOF"),
    ("[[ a b ]]", "syntax error: unexpected operator/operand 'b'"),
    ("if true", "syntax error: unmatched 'if'"),
    ("if true; then (a", "syntax error: unmatched '('"),
    ("while true; do a", "syntax error: unmatched 'while'"),
    ("for i in a; do", "syntax error: unmatched 'for'"),
    ("case a in b) c", "syntax error: unmatched 'case'"),
    ("{ a", "syntax error: unmatched '{'"),
    ("(a", "syntax error: unmatched '('"),
    ("echo $(a", "syntax error: unmatched '('"),
    ("echo 'a", "no closing quote"),
    ('echo "a', "no closing quote"),
    ("echo `a", "no closing quote"),
    ("echo ${a", "no closing quote"),
    ("cat <<EOF", "here document 'EOF' unclosed"),
]


@pytest.mark.parametrize(("script", "message"), SYNTAX_ERRORS)
def test_syntax_errors_read_as_on_a_phone(script: str, message: str) -> None:
    """What is wrong is named, and nothing of that line runs."""
    assert run(script) == (1, "", f"/system/bin/sh: {message}\n")


def test_lines_before_a_syntax_error_run() -> None:
    """A script is read one line at a time."""
    assert run("echo before\necho same; )\necho after") == (
        1,
        "before\n",
        "/system/bin/sh: syntax error: unexpected ')'\n",
    )


def test_messages_from_files_name_the_line() -> None:
    """A script file is named with the line that was read last."""
    script = "printf 'nope\\nif true\\nthen nope\\nfi\\n' > s; sh s; . ./s; printf 'nope' | sh"

    ended = run(script)

    missing = "nope: inaccessible or not found"
    assert ended.err.splitlines() == [
        f"s[1]: {missing}",
        f"s[4]: {missing}",
        f"/system/bin/sh: ./s[1]: {missing}",
        f"/system/bin/sh: ./s[4]: {missing}",
        f"sh: <stdin>[1]: {missing}",
    ]


def test_an_executable_file_runs_as_a_script() -> None:
    """A pushed script runs once it may."""
    ended = run("printf 'echo ran $0 \"$1\"\\n' > s; chmod +x s; ./s 'a b'; PATH=. s c")

    assert ended == (0, "ran ./s a b\nran ./s c\n", "")


def test_variables_and_folder_last_between_runs() -> None:
    """One shell can run several scripts, as an interactive one does."""

    async def scenario() -> Ended:
        shell = new_shell()
        await run_in(shell, "x=1; export y=2; cd /data; f() { echo $x$y; }")
        assert (shell.cwd, shell.env["y"]) == ("/data", "2")
        return await run_in(shell, "f; pwd")

    assert asyncio.run(scenario()).out == "12\n/data\n"


def test_special_variables() -> None:
    """Process numbers and the time come from the shell, never from the host."""
    ended = run("echo $$ $! $PPID $SECONDS $EPOCHREALTIME $PWD; true & echo $!; echo $RANDOM")

    first, second, third = ended.out.splitlines()
    assert first == f"20000 1 0 {NOON:.6f} {FOLDER}"
    assert second == "20001"
    assert 0 <= int(third) < 32768
    assert run("echo $RANDOM$RANDOM").out == run("echo $RANDOM$RANDOM").out
