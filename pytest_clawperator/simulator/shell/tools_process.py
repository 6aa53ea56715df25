"""Tools that run other commands, and tools about the system they run on."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.escapes import decode, quoted
from pytest_clawperator.simulator.shell.io import Bytes, read_all
from pytest_clawperator.simulator.shell.lines import run_lines
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import absolute, parse_options

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Input, Invocation, Shell

_SECONDS = re.compile(r"(\d*\.?\d+|\d+\.)([smhd]?)\Z")
_FACTORS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_MAX_WORDS = 1000
TIMED_OUT = 124

_GROUPS = (
    *("2000(shell)", "1004(input)", "1007(log)", "1011(adb)", "1015(sdcard_rw)", "1028(sdcard_r)"),
    *("1078(ext_data_rw)", "1079(ext_obb_rw)", "3001(net_bt_admin)", "3002(net_bt)", "3003(inet)"),
    *("3006(net_bw_stats)", "3009(readproc)", "3011(uhid)", "3012(readtracefs)"),
)
_UNAME = {
    "s": "Linux",
    "n": "localhost",
    "r": "6.1.99-android14-11",
    "v": "#1 SMP PREEMPT Thu Jan  1 00:00:00 UTC 2024",
    "m": "aarch64",
    "o": "Toybox",
}


def _seconds(text: str) -> float:
    match = _SECONDS.match(text)
    if match is None:
        raise CommandFailure(f"Not a number '{text}'")
    return min(float(match[1][:20]) * _FACTORS[match[2]], 1e8)


async def sleep(invocation: Invocation) -> int:
    """Wait so many seconds; being part of the shell, it knows no units."""
    arguments = invocation.args[1:]
    if len(arguments) != 1 or not re.fullmatch(r"\d*\.?\d+|\d+\.", arguments[0]):
        what = f": Invalid argument '{arguments[0]}'" if len(arguments) == 1 else ""
        await invocation.shell.complain(f"sleep: syntax error{what}")
        return 1
    await asyncio.sleep(_seconds(arguments[0]))
    return 0


async def sh(invocation: Invocation) -> int:
    """Run a script in a new shell: from an argument, a file, or standard input."""
    name, *arguments = invocation.args
    shell = invocation.shell.child(name=name)
    script: str | None = None
    while arguments and arguments[0][:1] in ("-", "+"):
        word = arguments.pop(0)
        if word in ("-", "--", "-s"):
            break
        if "c" in word:
            if not arguments:
                raise CommandFailure("-c requires an argument")
            script = arguments.pop(0)
        shell.options |= {letter for letter in word[1:] if letter in "eux" and word[0] == "-"}
    with shell.deeper():
        if script is not None:
            shell.name = arguments[0] if arguments else name
            shell.positional = arguments[1:]
            return await shell.isolated(shell.evaluate(script))
        if arguments:
            data = shell.files.read(absolute(invocation, arguments[0]))
            return await shell.run_file(arguments[0], decode(data), arguments[1:])
        return await run_lines(shell)


async def env(invocation: Invocation) -> int:
    """Print the environment, or run a command in a changed one."""
    arguments = invocation.args[1:]
    shell = invocation.shell.subshell()
    while arguments and arguments[0] in ("-i", "-", "-u"):
        if arguments.pop(0) == "-u":
            shell.env.pop(arguments.pop(0) if arguments else "", None)
        else:
            shell.env.clear()
    while arguments and (match := _ASSIGNMENT.match(arguments[0])):
        shell.env[match[1]] = arguments.pop(0)[match.end() :]
    if arguments:
        return await _spawn(invocation, arguments, shell=shell)
    await invocation.out("".join(f"{name}={value}\n" for name, value in shell.env.items()))
    return 0


async def _spawn(
    invocation: Invocation,
    args: list[str],
    *,
    shell: Shell | None = None,
    stdin: Input | None = None,
) -> int:
    return await (shell or invocation.shell).spawn(
        args, stdin=stdin or invocation.stdin, stdout=invocation.stdout, stderr=invocation.stderr
    )


async def printenv(invocation: Invocation) -> int:
    """Print variables of the environment."""
    names = parse_options(invocation.args, flags="0").operands
    environment = invocation.shell.env
    if not names:
        await invocation.out("".join(f"{name}={value}\n" for name, value in environment.items()))
    for name in names:
        if name in environment:
            await invocation.out(environment[name] + "\n")
    return int(any(name not in environment for name in names))


async def which(invocation: Invocation) -> int:
    """Say where commands are."""
    status = 0
    for name in parse_options(invocation.args, flags="a", least=1).operands:
        # Unlike the shell, this one knows only programs.
        known = name in invocation.shell.commands and "/" not in name
        path = f"/system/bin/{name}" if known else invocation.shell.find(name)
        if path is None or "/" not in path:
            status = 1
        else:
            await invocation.out(path + "\n")
    return status


async def xargs(invocation: Invocation) -> int:
    """Run a command with the words of standard input as its arguments."""
    options = parse_options(invocation.args, flags="0prt", values="nsE", stops=True)
    text = decode(await read_all(invocation.stdin))
    if "0" in options:
        words = text.split("\0")[: None if not text.endswith("\0") else -1] if text else []
    else:
        words = text.split()
    command = options.operands or ["echo"]
    count = max(1, options.number("n", _MAX_WORDS))
    batches = [words[at : at + count] for at in range(0, len(words), count)]
    if not batches and "r" not in options:
        batches = [[]]
    for batch in batches:
        if "t" in options:
            await invocation.err(" ".join(map(quoted, [*command, *batch])) + "\n")
        if invocation.shell.find(command[0]) is None:
            raise CommandFailure(f"exec {command[0]}: No such file or directory", status=127)
        status = await _spawn(invocation, [*command, *batch], stdin=Bytes())
        if status:
            return 123 if status < 126 else status
    return 0


async def timeout(invocation: Invocation) -> int:
    """Run a command, but not for too long."""
    options = parse_options(invocation.args, flags="fiv", values="ks", least=2, stops=True)
    limit, *command = options.operands
    try:
        return await asyncio.wait_for(_spawn(invocation, command), _seconds(limit) or None)
    except asyncio.TimeoutError:
        return TIMED_OUT


async def nohup(invocation: Invocation) -> int:
    """Run a command that does not mind when its terminal goes."""
    options = parse_options(invocation.args, least=1, stops=True)
    return await _spawn(invocation, options.operands)


async def kill(invocation: Invocation) -> int:
    """End background jobs."""
    words = [word for word in invocation.args[1:] if not word.startswith("-")]
    if not words:
        await invocation.shell.complain("usage: kill [-s signame | -signum | -signame] pid ...")
        return 1
    failed = False
    for word in words:
        job = invocation.shell.jobs.find(int(word)) if re.fullmatch(r"\d{1,7}", word) else None
        if job is None:
            failed = True
            await invocation.shell.complain(f"kill: {word}: No such process")
        else:
            job.task.cancel()
    return int(failed)


async def id_(invocation: Invocation) -> int:
    """Say who runs the shell."""
    options = parse_options(invocation.args, flags="Ggnru", values="Z")
    if "u" in options or "g" in options:
        await invocation.out("shell\n" if "n" in options else "2000\n")
    elif "G" in options:
        parts = [re.split(r"[()]", group) for group in _GROUPS]
        await invocation.out(" ".join(part["n" in options] for part in parts) + "\n")
    else:
        await invocation.out(
            f"uid=2000(shell) gid=2000(shell) groups={','.join(_GROUPS)} context=u:r:shell:s0\n"
        )
    return 0


async def whoami(invocation: Invocation) -> int:
    """Say who runs the shell, by name."""
    await invocation.out("shell\n")
    return 0


async def uname(invocation: Invocation) -> int:
    """Say what the system is."""
    options = parse_options(invocation.args, flags="amnorsv")
    chosen = [letter for letter in "snrvmo" if letter in options or "a" in options] or ["s"]
    await invocation.out(" ".join(_UNAME[letter] for letter in chosen) + "\n")
    return 0


async def df(invocation: Invocation) -> int:
    """Say how much room there is."""
    options = parse_options(invocation.args, flags="hkHPi")
    files = invocation.shell.files
    size = files.capacity_bytes
    mounts = {
        "/": ("/dev/block/dm-0", 0),
        "/data": ("/dev/block/dm-5", files.free_bytes),
        "/storage/emulated": ("/dev/fuse", files.free_bytes),
    }
    chosen = list(mounts)
    if options.operands:
        paths = [files.resolve(absolute(invocation, path)) for path in options.operands]
        chosen = [max((m for m in mounts if path.startswith(m)), key=len) for path in paths]
    human = "h" in options or "H" in options
    titles = ["Filesystem", *(("Size", "Used", "Avail") if human else _BLOCK_TITLES)]
    rows = [[*titles, "Use%", "Mounted on"]]
    for mount in chosen:
        device, free = mounts[mount]
        amounts = [_amount(amount, human=human) for amount in (size, size - free, free)]
        rows.append([device, *amounts, f"{round((size - free) * 100 / size)}%", mount])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        middle = [cell.rjust(width) for cell, width in zip(row[1:5], widths[1:5], strict=True)]
        await invocation.out(" ".join([row[0].ljust(widths[0]), *middle, row[5]]) + "\n")
    return 0


_BLOCK_TITLES = ("1K-blocks", "Used", "Available")


def _amount(size: int, *, human: bool) -> str:
    if not human:
        return str(size // 1024)
    value = float(size)
    for unit in ("", "K", "M", "G"):
        if value < 1000:
            return f"{value:.1f}{unit}" if unit and value < 10 else f"{value:.0f}{unit}"
        value /= 1024
    return f"{value:.1f}T"
