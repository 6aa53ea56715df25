"""Every command: its path, where it is, and what it does in one line. Nothing is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_clawperator.contracts.text.wording import closest


class Row(NamedTuple):
    """Where a command is, and what it does in one line."""

    module: str
    attribute: str
    help: str


def _in(module: str, attribute: str, help: str) -> Row:
    return Row(f"pytest_clawperator.cli.commands.{module}", attribute, help)


#: The groups of commands, with what each is about.
GROUPS: Mapping[str, str] = {
    "observe": "What is on the screen.",
    "action": "What a person does.",
    "packages": "The apps on a device.",
    "operator": "The Operator app on a device.",
    "record": "Recordings of what a person does.",
    "recording": "Recordings of what a person does.",
    "skills": "Packaged scripts and recipes for apps.",
    "emulator": "Android emulators of this machine.",
    "provision": "Devices that are made ready.",
}

#: The commands under the headings of the help.
SECTIONS: Mapping[str, Mapping[str, Row]] = {
    "What is on the screen": {
        "snapshot": _in("executions.observe", "snapshot", "Capture the UI hierarchy."),
        "screenshot": _in("executions.observe", "screenshot", "Capture the screen as a picture."),
        "read": _in("executions.reading", "read", "Read the text of an element."),
        "read-value": _in("executions.reading", "read_value", "Read the value beside a label."),
        "wait": _in("executions.waiting", "wait", "Wait until an element is there."),
        "wait-for-nav": _in("executions.waiting", "wait_for_nav", "Wait until an app is in front."),
    },
    "What a person does": {
        "click": _in("executions.touch", "click_", "Click an element or a point."),
        "type": _in("executions.touch", "type_", "Type a text into an element."),
        "press": _in("executions.touch", "press", "Press back, home or recents."),
        "back": _in("executions.touch", "back", "Press back."),
        "scroll": _in("executions.scrolling", "scroll", "Scroll once."),
        "scroll-until": _in(
            "executions.scrolling", "scroll_until", "Scroll until an element is there."
        ),
        "scroll-and-click": _in(
            "executions.scrolling",
            "scroll_and_click",
            "Scroll until an element is there, and click it.",
        ),
        "open": _in("executions.apps", "open_", "Open an app, a URL or a deep link."),
        "close": _in("executions.apps", "close", "Stop an app."),
        "sleep": _in("executions.waiting", "sleep", "Do nothing for a while."),
        "exec": _in("executions.execute", "execute", "Run a whole execution payload."),
    },
    "Devices": {
        "devices": _in("devices", "devices", "List the connected devices."),
        "serve": _in("serve", "serve", "Offer the devices of this machine over HTTP."),
        "packages list": _in("devices", "packages_list", "List the apps on a device."),
        "logs": _in("logs", "logs", "Print a device's log."),
        "leases": _in("leases", "leases", "Tell who holds which device."),
        "simulate": _in("simulate", "simulate", "Start simulated phones and leave them running."),
        "simulate list": _in("simulate", "simulate_list", "List the simulated phones that run."),
        "simulate stop": _in("simulate", "simulate_stop", "End simulated phones."),
    },
    "Tests": {
        "convert": _in("test_files", "convert", "Print a test file as Python."),
        "schema": _in("test_files", "schema", "Print the schema of test files, for editors."),
    },
    "Recordings": {
        "record start": _in("recording.record", "record_start", "Start to record."),
        "record stop": _in("recording.record", "record_stop", "Stop the recording."),
        "record pull": _in("recording.record", "record_pull", "Fetch a recording."),
        "record parse": _in("recording.record", "record_parse", "Write its steps into a file."),
    },
    "Skills": {
        "skills list": _in("skills.reading", "skills_list", "List the skills of the registry."),
        "skills get": _in("skills.reading", "skills_get", "Tell what one is."),
        "skills search": _in(
            "skills.reading", "skills_search", "Find some by app, intent or keyword."
        ),
        "skills compile-artifact": _in(
            "skills.reading", "compile_", "Compile a recipe to an execution payload."
        ),
        "skills validate": _in("skills.reading", "validate", "Check one, or all of them."),
        "skills run": _in("skills.running", "run", "Run the script of one."),
        "skills new": _in("skills.repository", "new", "Write the first files of one."),
        "skills install": _in("skills.repository", "install", "Fetch a skills repository."),
        "skills update": _in("skills.repository", "update", "Fetch what is new in it."),
        "skills sync": _in("skills.repository", "sync", "Pin it to a ref."),
    },
    "Emulators": {
        "emulator list": _in("emulators", "emulator_list", "List the virtual devices."),
        "emulator inspect": _in("emulators", "emulator_inspect", "Tell what one is like."),
        "emulator create": _in("emulators", "emulator_create", "Create one."),
        "emulator start": _in("emulators", "emulator_start", "Start one, and wait for Android."),
        "emulator stop": _in("emulators", "emulator_stop", "Stop one that runs."),
        "emulator delete": _in("emulators", "emulator_delete", "Delete one."),
        "emulator status": _in("emulators", "emulator_status", "List the emulators that run."),
        "emulator provision": _in("emulators", "emulator_provision", "Make one ready, however."),
    },
    "Set-up": {
        "doctor": _in("doctor", "doctor", "Find out what is wrong, and what mends it."),
        "operator setup": _in("operator", "setup", "Install the Operator from a file or a url."),
        "grant-device-permissions": _in(
            "operator", "grant_device_permissions", "Grant the Operator what it needs."
        ),
        "version": _in("version", "version", "Print versions; --check-compat compares them."),
        "init": _in("first_project.init", "init", "Write the first files of a project."),
        "completion": _in("completion", "completion", "Print the completion of a shell."),
    },
}

#: Other spellings of commands, which the help does not list.
ALIASES: Mapping[str, str] = {
    "tap": "click",
    "fill": "type",
    "open-uri": "open",
    "open-url": "open",
    "open-app": "open",
    "close-app": "close",
    "press-key": "press",
    "read-kv": "read-value",
    "wait-for-navigation": "wait-for-nav",
    "execute": "exec",
    "operator install": "operator setup",
    "setup": "operator setup",
    "install": "operator setup",
    "recording start": "record start",
    "recording stop": "record stop",
    "recording pull": "record pull",
    "recording parse": "record parse",
    "provision emulator": "emulator provision",
    "observe snapshot": "snapshot",
    "observe screenshot": "screenshot",
    "action click": "click",
    "action type": "type",
    "action read": "read",
    "action wait": "wait",
    "action open-app": "open",
    "action open-uri": "open",
    "action press-key": "press",
}

#: The groups of the published program: a slip in one of them is an exit code of 0, as there.
PUBLISHED_GROUPS = frozenset(GROUPS) - {"observe", "action"}

#: What was a command long ago, and what it is today.
FORMER: Mapping[str, str] = {"inspect": "snapshot"}

COMMANDS: Mapping[str, Row] = {
    path: row for section in SECTIONS.values() for path, row in section.items()
}


def nearest_command(word: str, names: Sequence[str]) -> str | None:
    """Return the name that a word was meant to be: one that is like it, or begins with it."""
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    return closest(word, names) or (begun[0] if begun else None)
