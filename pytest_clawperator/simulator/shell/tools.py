"""The small commands every phone has, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.builtins import BUILTINS
from pytest_clawperator.simulator.shell.tools_files import (
    basename,
    chmod,
    cp,
    dirname,
    find,
    ln,
    mkdir,
    mv,
    readlink,
    realpath,
    rm,
    rmdir,
    touch,
)
from pytest_clawperator.simulator.shell.tools_format import (
    base64,
    date,
    md5sum,
    printf,
    sha1sum,
    sha256sum,
)
from pytest_clawperator.simulator.shell.tools_grep import grep
from pytest_clawperator.simulator.shell.tools_lines import seq, sort, uniq
from pytest_clawperator.simulator.shell.tools_ls import ls, stat
from pytest_clawperator.simulator.shell.tools_process import (
    df,
    env,
    id_,
    kill,
    nohup,
    printenv,
    sh,
    sleep,
    timeout,
    uname,
    which,
    whoami,
    xargs,
)
from pytest_clawperator.simulator.shell.tools_sed import sed
from pytest_clawperator.simulator.shell.tools_text import cat, cut, head, tail, tee, tr, wc

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Command

_OF_THE_SHELL = ("[", "cd", "echo", "export", "false", "pwd", "test", "true")

TOOLS: dict[str, Command] = {
    **{name: BUILTINS[name] for name in _OF_THE_SHELL},
    "base64": base64,
    "basename": basename,
    "cat": cat,
    "chmod": chmod,
    "cp": cp,
    "cut": cut,
    "date": date,
    "df": df,
    "dirname": dirname,
    "egrep": grep,
    "env": env,
    "fgrep": grep,
    "find": find,
    "grep": grep,
    "head": head,
    "id": id_,
    "kill": kill,
    "ln": ln,
    "ls": ls,
    "md5sum": md5sum,
    "mkdir": mkdir,
    "mv": mv,
    "nohup": nohup,
    "printenv": printenv,
    "printf": printf,
    "readlink": readlink,
    "realpath": realpath,
    "rm": rm,
    "rmdir": rmdir,
    "sed": sed,
    "seq": seq,
    "sh": sh,
    "sha1sum": sha1sum,
    "sha256sum": sha256sum,
    "sleep": sleep,
    "sort": sort,
    "stat": stat,
    "tail": tail,
    "tee": tee,
    "timeout": timeout,
    "touch": touch,
    "tr": tr,
    "uname": uname,
    "uniq": uniq,
    "wc": wc,
    "which": which,
    "whoami": whoami,
    "xargs": xargs,
}
