"""Opens what redirections name: files, other descriptors, and text of the script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.escapes import encode
from pytest_clawperator.simulator.shell.io import Bytes, Discard, FileOutput, Output, Source
from pytest_clawperator.simulator.shell.syntax import HereDocument, Redirect

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Shell

Descriptors = dict[int, "Source | Output"]


class RedirectionError(Exception):
    """A file could not be opened; the text says which and why."""


async def redirected(shell: Shell, redirects: Sequence[Redirect]) -> Descriptors:
    """Give a shell's descriptors with redirections applied, in order."""
    if not redirects:
        return shell.fds
    descriptors = dict(shell.fds)
    opener = _Opener(shell)
    for redirect in redirects:
        await opener.apply(redirect, descriptors)
    return descriptors


class _Opener:
    """Opens things as one shell sees them."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def apply(self, redirect: Redirect, descriptors: Descriptors) -> None:
        """Open what one redirection names."""
        shell, fd, operator = self._shell, redirect.fd, redirect.operator
        if isinstance(redirect.target, HereDocument):
            assert redirect.target.body is not None
            text = await shell.expander.text(redirect.target.body)
            descriptors[fd] = _text_source(text)
            return
        target = await shell.expander.text(redirect.target)
        if operator == "<<<":
            descriptors[fd] = _text_source(target + "\n")
        elif operator in (">&", "<&"):
            self._duplicate(fd, operator, target, descriptors)
        elif operator in ("<", "<>"):
            descriptors[fd] = self._open_input(target, create=operator == "<>")
        elif operator in ("&>", "&>>"):
            descriptors[1] = descriptors[2] = self._open_output(target, append=len(operator) == 3)
        else:
            descriptors[fd] = self._open_output(target, append=operator == ">>")

    def _duplicate(self, fd: int, operator: str, target: str, descriptors: Descriptors) -> None:
        if target == "-":
            descriptors.pop(fd, None)
        elif not target.isdecimal():
            raise RedirectionError(f"{operator}{target} : illegal file descriptor name")
        elif int(target[:9]) not in descriptors:
            raise RedirectionError(f"{operator}{target} : bad file descriptor")
        else:
            descriptors[fd] = descriptors[int(target)]

    def _open_input(self, target: str, *, create: bool) -> Source:
        files = self._shell.files
        try:
            path = self._path(target)
            if create and not files.exists(path):
                files.write(path, b"")
            return Source(Bytes(files.read(path)))
        except FileSystemError as error:
            raise RedirectionError(f"can't open {target}: {error.reason}") from None

    def _path(self, target: str) -> str:
        if not target:
            raise FileSystemError(target, reason="No such file or directory")
        return self._shell.files.resolve(target, self._shell.cwd)

    def _open_output(self, target: str, *, append: bool) -> Output:
        if target == "/dev/null":
            return Discard()
        files = self._shell.files
        try:
            path = self._path(target)
            if append:
                files.append(path, b"")
            else:
                files.write(path, b"")
        except FileSystemError as error:
            raise RedirectionError(f"can't create {target}: {error.reason}") from None
        return FileOutput(files, path)


def _text_source(text: str) -> Source:
    return Source(Bytes(encode(text)))
