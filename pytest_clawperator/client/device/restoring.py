"""Putting back what was changed on a device: a record of how to undo each change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_clawperator.errors import ClawperatorError, ShellError, TransportTimeoutError

_ASK_AGAIN = "restore() can be called again; it tries what is left."
_TRIED_AGAIN = "It is tried again before the next test; a script calls restore()."

Undo = Callable[[], None]


class Changes:
    """What was changed on a device, and how to undo it.

    ``probe`` is called before each undo; it raises if the device is away.
    """

    def __init__(self, probe: Callable[[], None]) -> None:
        self._probe = probe
        # How to undo what was changed: at first, and in each block that has not ended.
        self._undo: list[dict[str, Undo]] = [{}]
        # What a block could not put back because the device was away; the next block begins so.
        self._owed: dict[str, Undo] = {}

    def make(self, what: str, do: Callable[[], None], *, undo: Undo) -> None:
        """Change something; ``undo`` is kept unless an earlier change of it is known."""
        changed = self._undo[-1]
        self._owed.pop(what, None)
        first = what not in changed
        changed.setdefault(what, undo)
        try:
            do()
        except ShellError:
            # The device refused, perhaps half way; what it did can be taken back at once.
            if first:
                with contextlib.suppress(ShellError):
                    undo()
                del changed[what]
            raise

    def restore(self) -> None:
        """Put back what was changed in the current block, the newest first."""
        self._put_back(self._undo[-1])

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """Put back at the end of the block what was changed in it."""
        self._put_back_owed()
        changed: dict[str, Undo] = {}
        self._undo.append(changed)
        try:
            yield
        finally:
            try:
                self._put_back(changed)
            except ShellError:
                raise  # the device refused, and would again
            except ClawperatorError:
                self._owed.update(changed)
                raise
            finally:
                self._undo = [known for known in self._undo if known is not changed]
                # What could not be put back is left to whoever restores next.
                for what, undo in changed.items():
                    self._undo[-1].setdefault(what, undo)

    def _put_back_owed(self) -> None:
        """Put back what an earlier block could not; what the device refuses is raised once."""
        try:
            self._put_back(self._owed)
        except ShellError:
            self._owed.clear()
            raise

    def _put_back(self, changed: dict[str, Undo]) -> None:
        failures: dict[str, ClawperatorError] = {}
        for what, undo in reversed(list(changed.items())):
            try:
                self._probe()
                undo()
            except ClawperatorError as error:
                failures[what] = error
                if isinstance(error, TransportTimeoutError):
                    break  # a device that hangs would hang once for each of them
            else:
                self._forget(what, undo)
        if failures:
            raise _not_put_back(failures, [what for what in changed if what not in failures])

    def _forget(self, what: str, undo: Undo) -> None:
        self._owed.pop(what, None)
        for changed in self._undo:
            if changed.get(what) is undo:
                del changed[what]


def _not_put_back(
    failures: Mapping[str, ClawperatorError], untried: Sequence[str]
) -> ClawperatorError:
    """Return the error about what could not be put back, of the same type as its cause."""
    away = [error for error in failures.values() if not isinstance(error, ShellError)]
    cause = (away or list(failures.values()))[0]
    told = [f"{what} ({error.message})" for what, error in failures.items()]
    error = type(cause)(
        f"could not put back: {'; '.join([*told, *untried])}",
        code=cause.code,
        serial=cause.serial,
        hint=f"{_TRIED_AGAIN if away else _ASK_AGAIN} {cause.hint or ''}".strip(),
        details={"failed": {what: str(error) for what, error in failures.items()}},
    )
    error.__cause__ = cause
    return error
