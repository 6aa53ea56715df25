"""A command and a group of commands, as click's with what all of ours have in common."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import click

from pytest_clawperator.cli.global_options import GlobalOption, as_parameters
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.selectors import ELEMENT, SelectorOption, Selectors
from pytest_clawperator.cli.table import COMMANDS, nearest_command
from pytest_clawperator.contracts.wording import closest, quote
from pytest_clawperator.errors import ErrorCode

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
    and returns an ``Answer``. What ``selectors`` describe it gets as matchers in wire form.
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
        """Return the command's own options, those that say which node, and the global ones."""
        which = [option for each in self._selectors for option in each.as_parameters()]
        return [*super().get_params(ctx), *which, *as_parameters()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command's own options; one that it does not have is refused first."""
        refuse_unknown_flags(args, self, ctx)
        for each in self._selectors:
            ctx.params[each.parameter], args = each.take(args)
        ctx.allow_extra_args = True  # they are refused here, with what was meant
        try:
            super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        if ctx.args and not ctx.resilient_parsing:
            raise self._no_word(ctx, ctx.args[0])
        return ctx.args

    def _no_word(self, ctx: click.Context, word: str) -> Mistake:
        """Return the error of a word that the command does not take."""
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
        """Run the command; all that it needs is imported by now, and stays."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, and the global ones under a heading of theirs."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self.examples, ctx, formatter)


def write_examples(
    examples: Sequence[str], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write command lines that can be typed as they are."""
    program = ctx.find_root().info_name
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{program} {example}\n")


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the options of a command: its own, those that say which node, the global ones."""
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
    """Raise for the first flag that the command does not have, with the nearest that it has."""
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
