"""What to do about an error, as data; each front puts it into the words of its readers.

A hint is a sequence of parts: texts that are the same for every reader, and remedies, which
are not. Scripts read ``connect(serial=...)`` where pytest's users read ``--claw-device``. A
front is a function from a remedy to its words: ``for_scripts`` here is the default. It stands
at the top of a module, as errors are pickled with the name of theirs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto


class RemedyKind(Enum):
    """What to do; the comments explain ``subject``, ``url`` and ``count``."""

    # Which device
    CHOOSE_DEVICE = auto()  # subject: the serial of one; count: how many there are
    CHOOSE_REMOTE_DEVICE = auto()  # subject: the serial of one; url: of its host
    CORRECT_SERIAL = auto()
    CORRECT_URL = auto()
    CONNECT_BY_ADB = auto()
    USE_SIMULATOR = auto()
    CREATE_EMULATOR = auto()  # subject: the name of a virtual device

    # Whose device
    WAIT_FOR_DEVICE = auto()
    START_FEWER_WORKERS = auto()  # count: how many there are devices for
    KEEP_FEWER_SPARES = auto()
    KEEP_SPARES = auto()  # count: how many are needed
    SELECT_CANDIDATE = auto()

    # The Operator app
    INSTALL_OPERATOR = auto()  # subject: its package
    CORRECT_APK = auto()
    USE_PACKAGE = auto()  # subject: the package that is installed
    NAME_PACKAGE = auto()
    SWITCH_SERVICE_ON = auto()
    RESTORE_SERVICE = auto()
    RECOVER_FROM_CRASH = auto()
    RUN_DOCTOR = auto()

    # Nodes
    TAKE_FIRST = auto()

    # Results
    RETURN_ENVELOPE = auto()
    WRITE_GOLDEN = auto()  # subject: the path of the golden
    REPLACE_GOLDEN = auto()  # subject: the path of the golden


@dataclass(frozen=True)
class Remedy:
    """One thing to do; the comments of the kinds say which fields they use."""

    kind: RemedyKind
    subject: str = ""
    url: str = ""
    count: int = 0


HintParts = tuple[str | Remedy, ...]
Hint = str | Remedy | HintParts
Wording = Callable[[Remedy], str]

_BY_HAND = "Settings, Accessibility, Clawperator"
_FOR_SCRIPTS: Mapping[RemedyKind, str] = {
    RemedyKind.CHOOSE_DEVICE: "choose one: connect(serial={subject!r}), or set ANDROID_SERIAL",
    RemedyKind.CHOOSE_REMOTE_DEVICE: "choose one: connect(url={url!r}, serial={subject!r})",
    RemedyKind.CORRECT_SERIAL: "correct serial=",
    RemedyKind.CORRECT_URL: "give the address that `clawperator serve` prints when it starts, as"
    " in connect(url='http://127.0.0.1:3000')",
    RemedyKind.CONNECT_BY_ADB: "connect to the device by adb: connect(serial=...) without url=",
    RemedyKind.USE_SIMULATOR: "start a simulated one: `python -m pytest_clawperator.simulator`"
    " prints the adb port to connect to",
    RemedyKind.CREATE_EMULATOR: "create it: Emulators().create({subject!r})",
    RemedyKind.WAIT_FOR_DEVICE: "wait until it is released",
    RemedyKind.START_FEWER_WORKERS: "start no more workers than {count}",
    RemedyKind.KEEP_FEWER_SPARES: "keep fewer devices spare",
    RemedyKind.KEEP_SPARES: "keep {count} of the devices from the workers",
    RemedyKind.SELECT_CANDIDATE: "have the function that selects a device return one of the"
    " candidates that it was given",
    RemedyKind.INSTALL_OPERATOR: "install {subject}: connect(operator_apk='path/to/operator.apk')",
    RemedyKind.CORRECT_APK: "correct operator_apk=",
    RemedyKind.USE_PACKAGE: "use that one: connect(operator_package={subject!r}), or set"
    " CLAWPERATOR_OPERATOR_PACKAGE",
    RemedyKind.NAME_PACKAGE: "name its package: connect(operator_package=...)",
    RemedyKind.SWITCH_SERVICE_ON: "let it be switched on: connect(grant=True); or switch it on by"
    f" hand: {_BY_HAND}",
    RemedyKind.RESTORE_SERVICE: "switch the Operator's accessibility service on again:"
    f" connect(grant=True); or do so by hand: {_BY_HAND}",
    RemedyKind.RECOVER_FROM_CRASH: "connect again with connect(grant=True), which switches its"
    " accessibility service on again; the device's log has the whole stack trace",
    RemedyKind.RUN_DOCTOR: "find out what is wrong with `clawperator-py doctor`",
    RemedyKind.TAKE_FIRST: "let the first win, as on the device: connect(matchers='first')",
    RemedyKind.RETURN_ENVELOPE: "have each processor return the envelope that it was given",
    RemedyKind.WRITE_GOLDEN: "write {subject}: call"
    " expect.configure(goldens=GoldenStore(FOLDER, update=True)) before",
    RemedyKind.REPLACE_GOLDEN: "write {subject} again: call"
    " expect.configure(goldens=GoldenStore(FOLDER, update=True)) before",
}


def for_scripts(remedy: Remedy) -> str:
    """Return the words for authors of scripts."""
    return worded(remedy, _FOR_SCRIPTS)


def worded(remedy: Remedy, words: Mapping[RemedyKind, str]) -> str:
    """Return the words of a table, with the subject of the remedy in them.

    ``{typed}`` is the subject as one word of a command line.
    """
    return words[remedy.kind].format(**vars(remedy), typed=shlex.quote(remedy.subject))


def parts_of(hint: Hint | None) -> HintParts:
    """Return the parts of a hint, however it was given."""
    if hint is None:
        return ()
    return hint if isinstance(hint, tuple) else (hint,)


def with_remedy(parts: HintParts, remedy: Remedy | None) -> HintParts:
    """Return a hint with another way out at its end, unless it has it."""
    if remedy is None or remedy in parts:
        return parts
    if not parts:
        return (remedy,)
    last = parts[-1]
    end = f"{last.rstrip('. ')}; or " if isinstance(last, str) else "; or "
    return (*(parts[:-1] if isinstance(last, str) else parts), end, remedy)


def in_words(parts: HintParts, wording: Wording) -> str | None:
    """Return the hint as one text, or None if it is empty.

    A remedy at its beginning starts with a capital, one at its end is followed by a full stop.
    """
    text = "".join(part if isinstance(part, str) else wording(part) for part in parts)
    if parts and isinstance(parts[0], Remedy):
        text = text[:1].upper() + text[1:]
    if parts and isinstance(parts[-1], Remedy):
        text += "."
    return text or None
