"""The screens that the Operator dumps into the log, which are longer than all the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BEGIN = b"[TaskScope] UI Hierarchy:"
_END = b"</hierarchy>"


def without_dumps(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a log without those of a dump, whose first line stands for it.

    A dump is of one process; lines of others between are kept.
    """
    dumping: bytes | None = None
    for line in lines:
        if dumping is None:
            yield line
            if _BEGIN in line:
                dumping = _process(line)
        elif _process(line) != dumping:
            yield line
        elif _END in line:
            dumping = None


def _process(line: bytes) -> bytes:
    """Return the process id of a line in the format ``threadtime``."""
    parts = line.split(None, 3)
    return parts[2] if len(parts) > 2 else b""
