"""The program: find the command of a command line, run it and print its answer.

To add a command:

1. Write it in the module of its group: a function under ``@command(...)`` with click's options,
   which takes the ``GlobalOptions`` first and returns an ``Answer`` (``output.py``): a document for
   programs, a page for people, an exit code. Problems are raised: an error of the library, or a
   ``Mistake`` about the command line.
2. Add a row to the table in ``command.py``: its path, such as ``"packages list"``, its module, and
   one line of help. The module is imported when the command runs, and not before. Other spellings
   of a command are rows of ``ALIASES``; a new group is a row of ``GROUPS``.
3. Describe it in ``docs/command-line.md``, and test it in ``tests/cli/``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from pytest_clawperator.cli.command import (
    ALIASES,
    COMMANDS,
    FORMER,
    GROUPS,
    PUBLISHED_GROUPS,
    SECTIONS,
    Row,
    command,
    nearest_command,
    write_examples,
    write_options,
)
from pytest_clawperator.cli.options import (
    GlobalOptions,
    Mistake,
    OutputMode,
    as_parameters,
    default_output,
    missing_argument,
    of_click,
    split_global_options,
)
from pytest_clawperator.cli.output import Answer, show, show_error
from pytest_clawperator.errors import ClawperatorError, ErrorCode

PROGRAM = "clawperator-py"

_EXAMPLES = (
    "simulate",
    "snapshot",
    'click --text "Wi-Fi"',
    "doctor --fix",
    "init",
)

#: The variable by which a shell asks for completions.
COMPLETE = "_CLAWPERATOR_PY_COMPLETE"

INTERRUPTED = 128 + signal.SIGINT

#: The exit code of programs whose reader went away.
PIPE_CLOSED = 141


def run(argv: Sequence[str]) -> int:
    """Run a command line, without the name of the program, and return the exit code."""
    options = GlobalOptions(output=_output_of(argv))
    try:
        options, rest = split_global_options(argv)
        return _answered(_call(rest, options, argv), options)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Python writes what is left when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except click.exceptions.Exit as ended:  # after help
        return ended.exit_code
    except click.UsageError as error:
        return show_error(of_click(error), options)
    except ClawperatorError as error:
        return show_error(error, options)
    except Exception as error:
        if options.is_verbose:
            raise
        return show_error(_unexpected(error), options)


def _call(rest: list[str], options: GlobalOptions, argv: Sequence[str]) -> Any:
    if "--version" in rest[: rest.index("--") if "--" in rest else None]:
        return Answer({"version": version()}, text=version())
    if (not rest and argv) or rest[:1] == [""]:
        raise Mistake("Use --help for available commands.", exit_code=0)
    app = LazyGroup("", help="Look at Android devices, act on them, and set them up.")
    if COMPLETE in os.environ:
        # A shell asks for completions; its script names the shell.
        completion = import_module("click.shell_completion")
        return completion.shell_complete(app, {}, PROGRAM, COMPLETE, os.environ[COMPLETE])
    arguments = ["--help"] if rest in ([], ["help"]) else rest
    with app.make_context(PROGRAM, arguments, obj=options) as context:
        return app.invoke(context)


def _answered(answer: Any, options: GlobalOptions) -> int:
    """Print the answer of a command; for what click itself did, such as help, return its code."""
    if isinstance(answer, Answer):
        return show(answer, options)
    return answer if isinstance(answer, int) else 0


def version() -> str:
    """Return the version of the package."""
    # It takes long to import, and only this needs it.
    found: str = import_module("importlib.metadata").version("pytest-clawperator")
    return found


def _output_of(argv: Sequence[str]) -> OutputMode:
    """Return the output mode for errors that occur before the options are parsed."""
    asked = {value for name, value in pairwise(argv) if name in ("--output", "--format")}
    if "pretty" in asked:
        return "pretty"
    return "json" if asked or "--json" in argv else default_output()


class LazyGroup(click.Group):
    """The commands whose path begins with ``prefix``, each imported when it is called."""

    def __init__(self, prefix: str, **settings: Any) -> None:
        super().__init__(prefix or None, invoke_without_command=True, **settings)
        self._prefix = f"{prefix} " if prefix else ""
        self.callback = self._require_command

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the global options, for help and completion."""
        version = click.Option(
            ["--version"], is_flag=True, expose_value=False, help="Print the version and exit."
        )
        own = super().get_params(ctx)
        return [*own, *([] if self._prefix else [version]), *as_parameters()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return list(dict.fromkeys(name.split(" ")[0] for name in self._rows()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported, or a group of commands."""
        path = f"{self._prefix}{cmd_name}"
        path = ALIASES.get(path, path)
        if path in COMMANDS:
            row = COMMANDS[path]
            found: click.Command = getattr(import_module(row.module), row.attribute)
            return found
        return LazyGroup(path, help=GROUPS[path]) if path in GROUPS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; the error for an unknown one suggests the nearest.

        A command of two words may share the first with a command of one: ``simulate stop``.
        """
        for count in (2, 1):
            name = " ".join(args[:count])
            is_long = count == len(args[:count]) > 1
            if is_long and (f"{self._prefix}{name}" not in COMMANDS or args[0] in GROUPS):
                continue
            found = self.get_command(ctx, name)
            if found is not None:
                return name, found, args[count:]
        raise self._unknown(ctx, args[0])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        sections = {"Commands": self._rows()} if self._prefix else SECTIONS
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, row.help) for name, row in rows.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the global options."""
        self.format_commands(ctx, formatter)
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples of the program."""
        if not self._prefix:
            write_examples(_EXAMPLES, ctx, formatter)

    def _rows(self) -> dict[str, Row]:
        """Return the commands of this group by name; its aliases if it has nothing else."""
        own = {path: row for path, row in COMMANDS.items() if path.startswith(self._prefix)}
        inside = own or {
            path: COMMANDS[meant]
            for path, meant in ALIASES.items()
            if path.startswith(self._prefix)
        }
        return {path.removeprefix(self._prefix): row for path, row in inside.items()}

    def _require_command(self) -> None:
        """Raise for a group that is called without a command; the error lists its commands."""
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            hint = f"See `{context.command_path} --help`."
            raise Mistake(self._all(context), exit_code=0, hint=hint)

    def _all(self, ctx: click.Context) -> str:
        return f"{self._prefix}{'|'.join(self.list_commands(ctx))}"

    def _unknown(self, ctx: click.Context, word: str) -> Mistake:
        """Return the error for an unknown command, with a suggestion."""
        near = FORMER.get(word) if not self._prefix else None
        near = near or self._near(word)
        meant = f"Did you mean '{near}'? " if near else ""
        name = f"{self._prefix}{word}"
        is_known = self._prefix.strip() in PUBLISHED_GROUPS
        known = (
            f"There is {self._all(ctx)}." if self._prefix else "Use --help for available commands."
        )
        return Mistake(
            f"Unknown command: {name}. {meant}{known}",
            code=ErrorCode.USAGE if is_known else ErrorCode.UNKNOWN_COMMAND,
            exit_code=0 if is_known else 1,
            fields={"suggestion": near} if near else None,
        )

    def _near(self, word: str) -> str | None:
        """Return the nearest command: one in this group, or one without a group."""
        inside = [path for path in (*COMMANDS, *GROUPS, *ALIASES) if path.startswith(self._prefix)]
        names = [path.removeprefix(self._prefix) for path in inside]
        found = nearest_command(word, [name for name in names if " " not in name])
        if found is not None:
            return f"{self._prefix}{found}"
        return word if word in COMMANDS else None


def _unexpected(error: Exception) -> ClawperatorError:
    return ClawperatorError(
        f"something unexpected went wrong: {type(error).__name__}: {error}",
        code=ErrorCode.UNKNOWN,
        hint="This is a fault of the program. --verbose shows where it happened.",
    )


SHELLS = ("bash", "zsh", "fish")


# Where each shell reads it from, for the help.
_WHERE = {
    "bash": 'eval "$(clawperator-py completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(clawperator-py completion zsh)" in ~/.zshrc',
    "fish": "clawperator-py completion fish > ~/.config/fish/completions/clawperator-py.fish",
}


@command(
    "completion",
    examples=["completion bash >> ~/.bashrc", "completion fish | source"],
)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(options: GlobalOptions, shell: str | None) -> Answer:
    """Print the completion of a shell: bash, zsh or fish."""
    if shell is None:
        places = "; ".join(f"{name}: {where}" for name, where in _WHERE.items())
        raise missing_argument("completion requires a shell: bash, zsh or fish", hint=places)
    context = click.get_current_context().find_root()
    program = str(context.info_name)
    kind = import_module("click.shell_completion").get_completion_class(shell)
    script = kind(context.command, {}, program, COMPLETE).source()
    return Answer({"shell": shell, "script": script}, text=script)
