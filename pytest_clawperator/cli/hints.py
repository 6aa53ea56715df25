"""The hints of errors in the words of the command line: commands and options."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.remedies import Remedy, RemedyKind, worded

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
    " anew",
}


def for_command_line(remedy: Remedy) -> str:
    """Return the words for people who type commands."""
    return worded(remedy, _FOR_COMMAND_LINE)
