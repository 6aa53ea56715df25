"""Ctrl-C at every moment of a function, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType


def interruptions(act: Callable[[], object], *, within: tuple[str, ...]) -> Iterator[BaseException]:
    """Call a function repeatedly, interrupted one moment later each time; yield what it raises.

    The moments are those at which Python looks for signals: when a function begins, and when
    one that is not written in Python has returned; in files whose names end with one of
    ``within``. It ends when nothing is left to interrupt.
    """
    for moment in count(1):
        error = _interrupted(act, moment, within)
        if error is None:
            return
        yield error
        del error  # with its frames, whatever they hold


def _interrupted(
    act: Callable[[], object], moment: int, within: tuple[str, ...]
) -> BaseException | None:
    left = moment

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_filename.endswith(within):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        act()
    except BaseException as error:  # whichever it is, the test judges it
        return error
    finally:
        sys.setprofile(before)
    assert left > 0, f"the interrupt at moment {moment} was swallowed"
    return None
