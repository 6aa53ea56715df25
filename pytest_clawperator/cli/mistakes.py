"""What is wrong with a command line, as errors with the codes of the published program."""

from __future__ import annotations

from typing import Any

import click

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.remedies import Hint

# Options that stand for what a command cannot do without.
_REQUIRED = ("--app", "--key", "--label", "--label-desc", "--label-id", "--payload")


class Mistake(ConfigurationError):
    """A command line that makes no sense.

    ``exit_code`` is the published program's: 0 where a command only tells how it is used.
    ``fields`` are more fields of the answer in JSON.
    """

    default_code = ErrorCode.USAGE

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | str | None = None,
        exit_code: int = 1,
        hint: Hint | None = None,
        fields: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.exit_code = exit_code
        self.fields = dict(fields or {})


def missing_argument(message: str, *, hint: str) -> Mistake:
    """Return the error of a command that lacks an argument."""
    return Mistake(message, code=ErrorCode.MISSING_ARGUMENT, hint=hint)


def invalid(message: str, *, hint: str | None = None) -> Mistake:
    """Return the error of arguments that contradict each other, or of a value that cannot be."""
    return Mistake(message, code=ErrorCode.EXECUTION_VALIDATION_FAILED, hint=hint)


def of_click(error: click.UsageError) -> Mistake:
    """Return what click found wrong as an error of ours."""
    help_hint = _help_hint(error.ctx)
    if isinstance(error, click.NoSuchOption):
        near = error.possibilities[0] if error.possibilities else None
        meant = f". Did you mean '{near}'?" if near else ""
        return Mistake(f"unrecognized flag '{error.option_name}'{meant}", hint=help_hint)
    if isinstance(error, click.BadOptionUsage):
        if error.option_name == "--coordinate":
            return invalid("--coordinate requires two non-negative integers (x y)")
        code = ErrorCode.MISSING_ARGUMENT if error.option_name in _REQUIRED else None
        return Mistake(f"{error.option_name} requires a value", code=code, hint=help_hint)
    if isinstance(error, click.MissingParameter):
        name = error.param.human_readable_name if error.param is not None else "an argument"
        command = error.ctx.info_name if error.ctx is not None else "the command"
        message = f"{command} requires {name}"
        return Mistake(message, code=ErrorCode.MISSING_ARGUMENT, hint=help_hint)
    return Mistake(error.format_message().removesuffix("."), hint=help_hint)


def _help_hint(context: click.Context | None) -> str | None:
    return f"See `{context.command_path} --help`." if context is not None else None
