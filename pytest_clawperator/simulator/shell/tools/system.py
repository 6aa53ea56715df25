"""Tools that describe the device's user, system and programs, and ``md5sum``."""

from __future__ import annotations

import hashlib

from pytest_clawperator.simulator.shell.lookup import find_program
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.tools.inputs import Inputs
from pytest_clawperator.simulator.shell.tools.options import parse_options

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


async def id_(invocation: Invocation) -> int:
    """Print the shell's user and groups."""
    options = parse_options(invocation.args, flags="gnu")
    if "u" in options or "g" in options:
        await invocation.out("shell\n" if "n" in options else "2000\n")
    else:
        await invocation.out(
            f"uid=2000(shell) gid=2000(shell) groups={','.join(_GROUPS)} context=u:r:shell:s0\n"
        )
    return 0


async def whoami(invocation: Invocation) -> int:
    """Print the shell's user."""
    await invocation.out("shell\n")
    return 0


async def uname(invocation: Invocation) -> int:
    """Print the name and version of the kernel."""
    options = parse_options(invocation.args, flags="amnorsv")
    chosen = [letter for letter in _UNAME if letter in options or "a" in options] or ["s"]
    await invocation.out(" ".join(_UNAME[letter] for letter in chosen) + "\n")
    return 0


async def which(invocation: Invocation) -> int:
    """Print the paths of programs."""
    status = 0
    for name in parse_options(invocation.args, least=1).operands:
        path = find_program(invocation.shell, name)
        if path is None:
            status = 1
        else:
            await invocation.out(f"{path}\n")
    return status


async def df(invocation: Invocation) -> int:
    """Print the size of the storage and how much of it is free; all paths are on one volume."""
    options = parse_options(invocation.args, flags="kh")
    files = invocation.shell.files
    size, free = files.capacity_bytes // 1024, files.free_bytes // 1024
    used = size - free
    share = f"{100 * used // size}%"
    await invocation.out(f"{'Filesystem':<17}{'1K-blocks':>10}{'Used':>10}{'Available':>10}")
    await invocation.out(" Use% Mounted on\n")
    for _ in options.operands or ["/data"]:
        await invocation.out(f"{'/dev/block/dm-50':<17}{size:>10}{used:>10}{free:>10}")
        await invocation.out(f"{share:>5} /data\n")
    return 0


async def md5sum(invocation: Invocation) -> int:
    """Print the MD5 checksums of files; with ``-b`` without their names."""
    options = parse_options(invocation.args, flags="b")
    inputs = Inputs(invocation, options.operands)
    async for name, source in inputs:
        digest = hashlib.md5(usedforsecurity=False)
        while data := await source.read():
            digest.update(data)
        shown = "" if "b" in options else f"  {name}"
        await invocation.out(f"{digest.hexdigest()}{shown}\n")
    return inputs.status
