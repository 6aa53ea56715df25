"""Opens the files and descriptors that redirections name."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.language.expansion import Expander
from pytest_clawperator.simulator.shell.language.syntax import Redirect
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import (
    Bytes,
    Discard,
    FileOutput,
    Output,
    Source,
)

Descriptors = dict[int, Source | Output]


async def open_redirects(
    shell: Shell, redirects: Sequence[Redirect], expander: Expander
) -> Descriptors:
    """Return a shell's descriptors with redirections applied; raise CommandFailure if one fails."""
    if not redirects:
        return shell.fds
    descriptors = dict(shell.fds)
    for redirect in redirects:
        fd, operator = redirect.fd, redirect.operator
        target = await expander.text(redirect.target)
        if operator in (">&", "<&"):
            _duplicate(fd, operator, target, descriptors)
        elif operator == "<":
            descriptors[fd] = _open_input(shell, target)
        elif operator == "&>":
            descriptors[1] = descriptors[2] = _open_output(shell, target, append=False)
        else:
            descriptors[fd] = _open_output(shell, target, append=operator == ">>")
    return descriptors


def _duplicate(fd: int, operator: str, target: str, descriptors: Descriptors) -> None:
    if target == "-":
        descriptors.pop(fd, None)
    elif not target.isdecimal():
        raise CommandFailure(f"{operator}{target} : illegal file descriptor name")
    elif int(target[:9]) not in descriptors:
        raise CommandFailure(f"{operator}{target} : bad file descriptor")
    else:
        descriptors[fd] = descriptors[int(target)]


def _open_input(shell: Shell, target: str) -> Source:
    try:
        return Source(Bytes(shell.files.read(_path(shell, target))))
    except FileSystemError as error:
        raise CommandFailure(f"can't open {target}: {error.reason}") from None


def _open_output(shell: Shell, target: str, *, append: bool) -> Output:
    if target == "/dev/null":
        return Discard()
    try:
        path = _path(shell, target)
        if append:
            shell.files.append(path, b"")
        else:
            shell.files.write(path, b"")
    except FileSystemError as error:
        raise CommandFailure(f"can't create {target}: {error.reason}") from None
    return FileOutput(shell.files, path)


def _path(shell: Shell, target: str) -> str:
    if not target:
        raise FileSystemError(target, reason="No such file or directory")
    return shell.files.resolve(target, shell.cwd)
