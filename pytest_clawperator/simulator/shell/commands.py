"""The commands of the shell and of its tools, by name."""

from __future__ import annotations

from pytest_clawperator.simulator.shell.builtins import (
    break_,
    cd,
    command,
    exec_,
    exit_,
    export,
    false,
    pwd,
    read,
    set_,
    trap,
    true,
    wait,
)
from pytest_clawperator.simulator.shell.shell import Command
from pytest_clawperator.simulator.shell.tools.conditions import answer_test
from pytest_clawperator.simulator.shell.tools.date import date
from pytest_clawperator.simulator.shell.tools.dd import dd
from pytest_clawperator.simulator.shell.tools.files import chmod, ln, mkdir, rm, touch
from pytest_clawperator.simulator.shell.tools.grep import grep
from pytest_clawperator.simulator.shell.tools.help import with_help
from pytest_clawperator.simulator.shell.tools.listing import ls, stat
from pytest_clawperator.simulator.shell.tools.printing import echo, printf
from pytest_clawperator.simulator.shell.tools.running import nohup, sh, sleep
from pytest_clawperator.simulator.shell.tools.system import df, id_, md5sum, uname, which, whoami
from pytest_clawperator.simulator.shell.tools.text import cat, cut, head, tail, tr, wc

BUILTINS: dict[str, Command] = {
    ":": true,
    "[": answer_test,
    "[[": answer_test,
    "break": break_,
    "cd": cd,
    "command": command,
    "continue": break_,
    "exec": exec_,
    "exit": exit_,
    "export": export,
    "false": false,
    "pwd": pwd,
    "read": read,
    "set": set_,
    "test": answer_test,
    "trap": trap,
    "true": true,
    "wait": wait,
}
TOOLS: dict[str, Command] = {
    "cat": cat,
    "chmod": chmod,
    "cut": cut,
    "date": date,
    "dd": dd,
    "df": df,
    "echo": echo,
    "grep": grep,
    "head": head,
    "id": id_,
    "ln": ln,
    "ls": ls,
    "md5sum": md5sum,
    "mkdir": mkdir,
    "nohup": nohup,
    "printf": printf,
    "rm": rm,
    "sh": sh,
    "sleep": sleep,
    "stat": stat,
    "tail": tail,
    "touch": touch,
    "tr": tr,
    "uname": uname,
    "wc": wc,
    "which": which,
    "whoami": whoami,
}
SHELL_COMMANDS: dict[str, Command] = {**BUILTINS, **with_help(TOOLS)}
