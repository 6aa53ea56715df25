"""Calls of hooks whose results are checked, so that an error names the hook."""

from __future__ import annotations

import traceback
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

import pluggy
import pytest

from pytest_clawperator.errors import ClawperatorError, ConfigurationError

#: The detail of an error that says which hook is to blame.
HOOK = "hook"

_HINT = "Correct the hook, or have it return None to leave it to others."
_NOT_THE_HOOK = (__file__, str(Path(pluggy.__file__).parent))


def call_hook(hook: pluggy.HookCaller, /, **arguments: Any) -> Any:
    """Call a hook; an error in it is raised with its name, and with the lines that led there."""
    try:
        return hook(**arguments)
    except (ClawperatorError, pytest.UsageError, pytest.exit.Exception):
        raise
    except Exception as exc:
        said = "".join(traceback.format_exception_only(exc)).strip()
        raise ConfigurationError(
            f"the hook {hook.name} raised {said}\n{_trace_in_hook(exc)}",
            hint=_HINT,
            details={HOOK: hook.name},
        ) from exc


def wrong_result(hook: str, result: object, wanted: str) -> ConfigurationError:
    """Return the error that says what a hook should have returned."""
    return ConfigurationError(
        f"the hook {hook} returned {short_repr(result)}, wanted is {wanted}",
        hint=_HINT,
        details={HOOK: hook},
    )


def _trace_in_hook(exc: Exception) -> str:
    """Return the traceback of the exception, from the hook on."""
    frames = traceback.extract_tb(exc.__traceback__)
    own = [one for one in frames if not one.filename.startswith(_NOT_THE_HOOK)]
    return "".join(traceback.format_list(own or frames)).rstrip()
