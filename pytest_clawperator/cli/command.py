"""The table of all commands, and the class of a command: its options, examples and errors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from pytest_clawperator.cli.options import (
    ELEMENT,
    GlobalOption,
    Mistake,
    SelectorOption,
    Selectors,
    as_parameters,
)
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ErrorCode


class Row(NamedTuple):
    """Where a command is, and what it does in one line."""

    module: str
    attribute: str
    help: str


def _in(module: str, attribute: str, help: str) -> Row:
    return Row(f"pytest_clawperator.cli.{module}", attribute, help)


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
        "snapshot": _in("observe", "snapshot", "Capture the UI hierarchy."),
        "screenshot": _in("observe", "screenshot", "Capture the screen as a picture."),
        "read": _in("observe", "read", "Read the text of an element."),
        "read-value": _in("observe", "read_value", "Read the value beside a label."),
        "wait": _in("observe", "wait", "Wait until an element is there."),
        "wait-for-nav": _in("observe", "wait_for_nav", "Wait until an app is in front."),
    },
    "What a person does": {
        "click": _in("gestures", "click_", "Click an element or a point."),
        "type": _in("gestures", "type_", "Type a text into an element."),
        "press": _in("gestures", "press", "Press back, home or recents."),
        "back": _in("gestures", "back", "Press back."),
        "scroll": _in("gestures", "scroll", "Scroll once."),
        "scroll-until": _in("gestures", "scroll_until", "Scroll until an element is there."),
        "scroll-and-click": _in(
            "gestures",
            "scroll_and_click",
            "Scroll until an element is there, and click it.",
        ),
        "open": _in("gestures", "open_", "Open an app, a URL or a deep link."),
        "close": _in("gestures", "close", "Stop an app."),
        "sleep": _in("observe", "sleep", "Do nothing for a while."),
        "exec": _in("executions", "execute", "Run a whole execution payload."),
    },
    "Devices": {
        "devices": _in("devices", "devices", "List the connected devices."),
        "serve": _in("serve", "serve", "Offer the devices of this machine over HTTP."),
        "packages list": _in("devices", "packages_list", "List the apps on a device."),
        "logs": _in("devices", "logs", "Print a device's log."),
        "leases": _in("devices", "leases", "Show who holds which device."),
        "simulate": _in("simulate", "simulate", "Start simulated phones and leave them running."),
        "simulate list": _in("simulate", "simulate_list", "List the simulated phones that run."),
        "simulate stop": _in("simulate", "simulate_stop", "End simulated phones."),
    },
    "Tests": {
        "convert": _in("test_files", "convert", "Print a test file as Python."),
        "schema": _in("test_files", "schema", "Print the schema of test files, for editors."),
    },
    "Recordings": {
        "record start": _in("recording", "record_start", "Start to record."),
        "record stop": _in("recording", "record_stop", "Stop the recording."),
        "record pull": _in("recording", "record_pull", "Fetch a recording."),
        "record parse": _in("recording", "record_parse", "Write its steps into a file."),
    },
    "Skills": {
        "skills list": _in("skills", "skills_list", "List the skills of the registry."),
        "skills get": _in("skills", "skills_get", "Show one."),
        "skills search": _in("skills", "skills_search", "Find some by app, intent or keyword."),
        "skills compile-artifact": _in(
            "skills", "compile_", "Compile a recipe to an execution payload."
        ),
        "skills validate": _in("skills", "validate", "Check one, or all of them."),
        "skills run": _in("skills", "run", "Run the script of one."),
        "skills new": _in("skills", "new", "Write the first files of one."),
        "skills install": _in("skills", "install", "Fetch a skills repository."),
        "skills update": _in("skills", "update", "Fetch what is new in it."),
        "skills sync": _in("skills", "sync", "Pin it to a ref."),
    },
    "Emulators": {
        "emulator list": _in("emulators", "emulator_list", "List the virtual devices."),
        "emulator inspect": _in("emulators", "emulator_inspect", "Describe one."),
        "emulator create": _in("emulators", "emulator_create", "Create one."),
        "emulator start": _in("emulators", "emulator_start", "Start one, and wait for Android."),
        "emulator stop": _in("emulators", "emulator_stop", "Stop one that runs."),
        "emulator delete": _in("emulators", "emulator_delete", "Delete one."),
        "emulator status": _in("emulators", "emulator_status", "List the emulators that run."),
        "emulator provision": _in("emulators", "emulator_provision", "Make one ready, however."),
    },
    "Set-up": {
        "doctor": _in("doctor", "doctor", "Find out what is wrong, and how to fix it."),
        "operator setup": _in("operator", "setup", "Install the Operator from a file or a url."),
        "grant-device-permissions": _in(
            "operator", "grant_device_permissions", "Grant the Operator what it needs."
        ),
        "version": _in("doctor", "version", "Print versions; --check-compat compares them."),
        "init": _in("init", "init", "Write the first files of a project."),
        "completion": _in("app", "completion", "Print the completion of a shell."),
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
    """Return the name that is most like a word, or begins with it."""
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    return closest(word, names) or (begun[0] if begun else None)


Body = Callable[..., Any]


def command(
    name: str,
    *,
    examples: Sequence[str] = (),
    selectors: Sequence[Selectors] = (),
    **settings: Any,
) -> Callable[[Body], Command]:
    """Make a function a command; ``examples`` are command lines without the program's name.

    The function gets the ``GlobalOptions`` first, then its own options and arguments by name,
    and returns an ``Answer``. ``selectors`` become matchers in wire form.
    """

    def made(body: Body) -> Command:
        decorate = click.command(
            name, cls=Command, examples=examples, selectors=selectors, **settings
        )
        return decorate(click.pass_obj(body))

    return made


class Command(click.Command):
    """A command with global options and examples in its help."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[str] = (),
        selectors: Sequence[Selectors] = (),
        **settings: Any,
    ) -> None:
        # What begins with one dash, such as a negative number, is a value.
        settings.setdefault("context_settings", {"ignore_unknown_options": True})
        super().__init__(*arguments, **settings)
        self.examples = tuple(examples)
        self._selectors = tuple(selectors)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, those that select a node, and the global ones."""
        which = [option for each in self._selectors for option in each.as_parameters()]
        return [*super().get_params(ctx), *which, *as_parameters()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command's own options; unknown ones are refused first."""
        refuse_unknown_flags(args, self, ctx)
        for each in self._selectors:
            ctx.params[each.parameter], args = each.take(args)
        ctx.allow_extra_args = True  # they are refused below, with a suggestion
        try:
            super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        if ctx.args and not ctx.resilient_parsing:
            raise self._no_word(ctx, ctx.args[0])
        return ctx.args

    def _no_word(self, ctx: click.Context, word: str) -> Mistake:
        """Return the error for an unexpected argument."""
        program, _, path = ctx.command_path.partition(" ")
        if ELEMENT in self._selectors and ctx.params[ELEMENT.parameter] is None:
            return Mistake(
                f"{path} requires a selector, and {quote(word)} is none",
                code=ErrorCode.MISSING_SELECTOR,
                hint=f"Say which element is meant: {program} {path} --text {quote(word)}.",
            )
        longer = [name.removeprefix(f"{path} ") for name in COMMANDS if name.startswith(f"{path} ")]
        near = nearest_command(word, longer)
        meant = f". Did you mean '{path} {near}'?" if near else ""
        return Mistake(
            f"{path} takes no {quote(word)}{meant}",
            hint=f"See `{ctx.command_path} --help`.",
            fields={"suggestion": f"{path} {near}"} if near else None,
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; everything it needs is imported by now."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, and the global ones under their own heading."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self.examples, ctx, formatter)


def write_examples(
    examples: Sequence[str], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write example command lines."""
    program = ctx.find_root().info_name
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{program} {example}\n")


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the options of a command: its own, those that select a node, the global ones."""
    headings: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        is_option = isinstance(parameter, click.Option)  # the usage has the arguments
        record = parameter.get_help_record(ctx) if is_option else None
        if record is not None:
            headings.setdefault(_heading(parameter), []).append(record)
    for heading, records in headings.items():
        with formatter.section(heading):
            formatter.write_dl(records)


def _heading(parameter: click.Parameter) -> str:
    if isinstance(parameter, SelectorOption):
        return f"Which {parameter.kind}"
    return "Global options" if isinstance(parameter, GlobalOption) else "Options"


def refuse_unknown_flags(args: Sequence[str], command: Command, ctx: click.Context) -> None:
    """Raise for the first unknown flag, and suggest the nearest known one."""
    known = {
        name: parameter.nargs if not parameter.is_flag else 0
        for parameter in command.get_params(ctx)
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    words = iter(args)
    for word in words:
        if word == "--":
            return
        name, equals, _ = word.partition("=")
        if name in known:
            for _ in range(0 if equals else known[name]):
                next(words, None)
        elif word.startswith("--"):
            near = closest(name, known)
            meant = f". Did you mean '{near}'?" if near else ""
            raise Mistake(
                f"unrecognized flag '{name}'{meant}", hint=f"See `{ctx.command_path} --help`."
            )
