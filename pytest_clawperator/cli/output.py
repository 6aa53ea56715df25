"""The answer of a command, printed as JSON for programs or as a page for people.

Nothing here imports rich, so that programs do not wait for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    ExecutionValidationError,
    SkillFailedError,
)
from pytest_clawperator.redaction import hide
from pytest_clawperator.remedies import Remedy, RemedyKind, in_words, worded
from pytest_clawperator.text import visible, visible_in_json, visible_line

_PAGE = "pytest_clawperator.cli.terminal"

# Details that stand beside the code, as the published program has them.
_ON_TOP = ("lastCorrelatedEvents", "broadcastDispatchStatus", "operatorPackage")

# What was done to set the Operator up before an error, likewise.
_SET_UP = (
    *("operatorPackage", "install", "permissions", "verification"),
    *("accessibility", "notification", "notificationListener"),
)


@dataclass(frozen=True)
class Line:
    """A line for people; ``style`` is rich's, such as ``"green"``."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under headings, for people."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | Line]]


#: A piece of a page for people; a plain text is a line without a style.
Piece = str | Line | Table


@dataclass(frozen=True)
class Answer:
    """What a command answers: a document for programs, and a page for people.

    Without a page people get the indented document. A ``text`` is printed in every mode unless
    JSON was requested: it is for a file or for another program.
    """

    document: Mapping[str, Any]
    page: Sequence[Piece] = field(default=())
    exit_code: int = 0
    text: str | None = None


def show(answer: Answer, options: GlobalOptions) -> int:
    """Print the answer, and return the exit code."""
    if answer.text is not None and not options.is_json_explicit:
        write(hide(answer.text))
    elif options.output == "json":
        write(as_json(answer.document))
    elif answer.page:
        _terminal().print_page(answer.page)
    else:
        write(as_json(answer.document, indent=2))
    return answer.exit_code


def show_error(error: ClawperatorError, options: GlobalOptions) -> int:
    """Print the error, for programs on stdout and for people on stderr; return the exit code."""
    error.wording = for_command_line
    if options.output == "json":
        write(as_json(error_document(error)))
    else:
        sys.stderr.write(f"{_emphasised(f'{error.code}:')} {visible_line(_sentence(error))}\n")
        sys.stderr.flush()
    return error.exit_code if isinstance(error, Mistake) else 1


def _terminal() -> Any:
    """Import the module that prints for people, which needs rich."""
    try:
        return import_module(_PAGE)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != "rich":
            raise
        raise ConfigurationError(
            "output for people needs the package rich",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="Install it: pip install 'pytest-clawperator[cli]'; or pass --json.",
        ) from missing


def _emphasised(text: str) -> str:
    is_plain = "NO_COLOR" in os.environ or not sys.stderr.isatty()
    return text if is_plain else f"\x1b[1;31m{text}\x1b[0m"


def notice(text: str) -> None:
    """Print a notice on stderr."""
    sys.stderr.write(f"{visible(hide(text))}\n")
    sys.stderr.flush()


def write(text: str) -> None:
    """Write and flush a line to stdout, so that a closed pipe is noticed here."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def as_json(document: Any, *, indent: int | None = None) -> str:
    """Return JSON text without secrets and without control characters."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=separators)
    return visible_in_json(hide(text))


def error_document(error: ClawperatorError) -> dict[str, Any]:
    """Return an error for programs, with the published program's fields."""
    document: dict[str, Any] = {"code": str(error.code), "message": error.message}
    if isinstance(error, Mistake):
        document |= error.fields
    if error.serial:
        document["deviceId"] = error.serial
    if (hint := in_words(error.advice, for_command_line)) is not None:
        document["hint"] = hint
    details = _plain(error.details)
    if "broadcastDispatchStatus" in details:
        document |= {name: details.pop(name, []) for name in _ON_TOP}
    if "install" in details or "accessibility" in details:
        document |= {name: details.pop(name) for name in _SET_UP if name in details}
    if isinstance(error, SkillFailedError) or error.code is ErrorCode.SKILL_SCRIPT_NOT_FOUND:
        document |= details
        details = {}
    details |= _published_details(error)
    return {**document, "details": details} if details else document


def _published_details(error: ClawperatorError) -> dict[str, Any]:
    """Return the details that the published program adds to an error."""
    if error.code is ErrorCode.RESULT_ENVELOPE_TIMEOUT:
        caveat = "payload-last only; Android execution position is unknown"
        return {"lastActionCaveat": caveat} if "lastActionId" in error.details else {}
    if error.code is not ErrorCode.OPERATOR_NOT_INSTALLED:
        return {}
    given = {"device": error.serial, "operator-package": error.details.get("wanted")}
    options = "".join(f" --{name} {value}" for name, value in given.items() if value)
    return {
        "checkId": "readiness.apk.presence",
        "summary": "The Operator app is not installed.",
        "detail": error.message,
        "installCommand": f"clawperator-py operator setup --apk path/to/operator.apk{options}",
    }


def _sentence(error: ClawperatorError) -> str:
    """Return the error in one line, with the next step at its end."""
    device = f"[{error.serial}] " if error.serial else ""
    message = error.message
    if "lastCorrelatedEvents" in error.details:
        message = message.partition("\n")[0]  # lines of the log follow, which programs get
    if isinstance(error, ExecutionValidationError) and error.path and error.path not in message:
        message = f"{message} (at {error.path})"
    message = _joined(message)
    end = "" if message.endswith((".", "?", "!")) else "."
    hint = f" {error.hint}" if error.hint else ""
    return hide(" ".join(f"{device}{message}{end}{hint}".split()))


def _joined(text: str) -> str:
    """Join the lines of a text, with a semicolon after those without punctuation."""
    joined = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        gap = " " if joined.endswith((".", ":", ";", ",", "?", "!")) else "; "
        joined = f"{joined}{gap}{line}" if joined else line
    return joined


def _plain(value: Any) -> Any:
    """Return data that JSON can represent."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


_BY_HAND = "by hand: Settings, Accessibility, Clawperator"

_SETUP = "clawperator-py operator setup --apk path/to/operator.apk"

_FOR_COMMAND_LINE: Mapping[RemedyKind, str] = {
    RemedyKind.CHOOSE_DEVICE: "choose one: --device {typed}; `clawperator-py devices` lists them",
    RemedyKind.CHOOSE_REMOTE_DEVICE: "choose one: --device {url}/{typed}",
    RemedyKind.CORRECT_SERIAL: "correct --device (`clawperator-py devices` lists what there is)",
    RemedyKind.CORRECT_URL: "give the address that `clawperator-py serve` prints when it starts,"
    " as in --device http://127.0.0.1:3000",
    RemedyKind.CONNECT_BY_ADB: "name the device as adb does: --device SERIAL",
    RemedyKind.CREATE_EMULATOR: "create it: `clawperator-py emulator create --name {subject}`",
    RemedyKind.USE_SIMULATOR: "start a simulated one: `clawperator-py simulate`",
    RemedyKind.WAIT_FOR_DEVICE: "wait until it is released; `clawperator-py leases` says who"
    " holds what",
    RemedyKind.START_FEWER_WORKERS: "use no more devices than {count} at once",
    RemedyKind.KEEP_FEWER_SPARES: "keep fewer devices in reserve",
    RemedyKind.KEEP_SPARES: "keep {count} of the devices in reserve",
    RemedyKind.SELECT_CANDIDATE: "choose one of the devices that were offered: --device SERIAL",
    RemedyKind.INSTALL_OPERATOR: f"install {{subject}}: `{_SETUP}`",
    RemedyKind.CORRECT_APK: "correct --apk",
    RemedyKind.USE_PACKAGE: "use that one: --operator-package {subject}",
    RemedyKind.NAME_PACKAGE: "name its package: --operator-package PACKAGE",
    RemedyKind.SWITCH_SERVICE_ON: "switch it on: `clawperator-py grant-device-permissions`; or"
    f" {_BY_HAND}",
    RemedyKind.RESTORE_SERVICE: "switch the Operator's accessibility service on again:"
    f" `clawperator-py grant-device-permissions`; or {_BY_HAND}",
    RemedyKind.RECOVER_FROM_CRASH: "run `clawperator-py grant-device-permissions`, which switches"
    " its accessibility service on again; `clawperator-py logs` shows the stack trace",
    RemedyKind.RUN_DOCTOR: "run `clawperator-py doctor`, which says what is wrong",
    RemedyKind.TAKE_FIRST: "let the first win, as on the device",
    RemedyKind.RETURN_ENVELOPE: "repair the processor: it must return the envelope that it was"
    " given",
    RemedyKind.WRITE_GOLDEN: "run the tests that compare with {subject} so that they write it",
    RemedyKind.REPLACE_GOLDEN: "run the tests that compare with {subject} so that they write it"
    " again",
}


def for_command_line(remedy: Remedy) -> str:
    """Word a remedy with commands and options."""
    return worded(remedy, _FOR_COMMAND_LINE)
