"""The program: finds the command that a command line calls, runs it and prints its answer.

To add a command:

1. Write it in the module of its group in ``commands/``: a function under ``@command(...)``
   (``command.py``) with click's options, which takes the ``GlobalOptions`` first and returns an
   ``Answer`` (``output.py``): a document for programs, a page for people, an exit code. What
   goes wrong is raised: an error of the library, or a ``Mistake`` about the command line.
2. Add a row to ``table.py``: its path, such as ``"packages list"``, where it is, and one line of
   help. The module is imported when the command runs, and not before. Other spellings of a
   command are rows of ``ALIASES``; a new group is a row of ``GROUPS``.
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

from pytest_clawperator.cli.command import write_options
from pytest_clawperator.cli.global_options import (
    GlobalOptions,
    OutputMode,
    as_parameters,
    default_output,
    split_global_options,
)
from pytest_clawperator.cli.mistakes import Mistake, of_click
from pytest_clawperator.cli.output import Answer, show, show_error
from pytest_clawperator.cli.table import ALIASES, COMMANDS, FORMER, GROUPS, SECTIONS
from pytest_clawperator.contracts.text.wording import closest
from pytest_clawperator.errors import ClawperatorError, ErrorCode

PROGRAM = "clawperator-py"
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
        # Words that a shell asks about; its script says in which shell.
        completion = import_module("click.shell_completion")
        return completion.shell_complete(app, {}, PROGRAM, COMPLETE, os.environ[COMPLETE])
    arguments = ["--help"] if rest in ([], ["help"]) else rest
    with app.make_context(PROGRAM, arguments, obj=options) as context:
        return app.invoke(context)


def _answered(answer: Any, options: GlobalOptions) -> int:
    """Print what a command returned; what click itself did, such as help, returns its code."""
    if isinstance(answer, Answer):
        return show(answer, options)
    return answer if isinstance(answer, int) else 0


def version() -> str:
    """Return the version of the package."""
    # It takes long to import, and only this needs it.
    found: str = import_module("importlib.metadata").version("pytest-clawperator")
    return found


def _output_of(argv: Sequence[str]) -> OutputMode:
    """Return the output that errors have before the options are known."""
    asked = {value for name, value in pairwise(argv) if name in ("--output", "--format")}
    if "pretty" in asked:
        return "pretty"
    return "json" if asked or "--json" in argv else default_output()


class LazyGroup(click.Group):
    """The commands whose path begins with ``prefix``; they are imported when they are called."""

    def __init__(self, prefix: str, **settings: Any) -> None:
        super().__init__(prefix or None, invoke_without_command=True, **settings)
        self._prefix = f"{prefix} " if prefix else ""
        self.callback = self._require_command

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the global options, for help and completion."""
        return [*super().get_params(ctx), *as_parameters()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        inside = [path.removeprefix(self._prefix) for path in COMMANDS if self._has(path)]
        return list(dict.fromkeys(path.split(" ")[0] for path in inside))

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
        """Return the command that is called; raise with the nearest one if there is none.

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
        if self._prefix:
            raise self._usage(ctx)
        raise _unknown(
            args[0], [path for path in (*COMMANDS, *GROUPS, *ALIASES) if " " not in path]
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        for heading, rows in SECTIONS.items():
            inside = {path: row for path, row in rows.items() if self._has(path)}
            if inside:
                with formatter.section(heading if not self._prefix else "Commands"):
                    formatter.write_dl(
                        [
                            (path.removeprefix(self._prefix), row.help)
                            for path, row in inside.items()
                        ]
                    )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the global options."""
        self.format_commands(ctx, formatter)
        write_options(self, ctx, formatter)

    def _has(self, path: str) -> bool:
        return path.startswith(self._prefix)

    def _require_command(self) -> None:
        """Raise for a group that is called alone, with the commands that it has."""
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            raise self._usage(context)

    def _usage(self, ctx: click.Context) -> Mistake:
        words = "|".join(self.list_commands(ctx))
        return Mistake(
            f"{self._prefix}{words}", exit_code=0, hint=f"See `{ctx.command_path} --help`."
        )


def _unexpected(error: Exception) -> ClawperatorError:
    return ClawperatorError(
        f"something unexpected went wrong: {type(error).__name__}: {error}",
        code=ErrorCode.UNKNOWN,
        hint="This is a fault of the program. --verbose shows where it happened.",
    )


def _unknown(name: str, known: Sequence[str]) -> Mistake:
    near = FORMER.get(name) or closest(name, known)
    meant = f"Did you mean '{near}'? " if near else ""
    return Mistake(
        f"Unknown command: {name}. {meant}Use --help for available commands.",
        code=ErrorCode.UNKNOWN_COMMAND,
        fields={"suggestion": near} if near else None,
    )
