"""Hide secrets in everything that pytest and other plugins report."""

from __future__ import annotations

import linecache
import logging
import os
import warnings
from typing import Any

import pytest

from pytest_clawperator.plugin.failures import EVIDENCE_FOLDER
from pytest_clawperator.plugin.report_sinks import guard_reports
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import EARLIER_SECRETS
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.redaction import SECRETS, SHORTEST, apply_rule, hide, hide_in

# Packages whose objects are searched; attributes that identify a test, and are left as they are.
_PACKAGES = ("_pytest",)
_KEPT = ("nodeid", "location", "keywords", "when", "outcome", "node", "result", EVIDENCE_FOLDER)
_LEFT_OUT = (
    "--claw-redact does not hide the values of these variables, which are ordinary words or"
    f" shorter than {SHORTEST} characters: {{names}}. What is a secret all the same can be typed"
    " with secret=True."
)
# Where pytest writes log records immediately; the others are part of reports.
_LOG_HANDLERS = ("log_cli_handler", "log_file_handler")


def begin_hiding(config: pytest.Config) -> None:
    """Begin with the secrets that the options describe."""
    config.stash[EARLIER_SECRETS] = SECRETS.secrets
    rules = settings_of(config).redact
    left_out = sorted({name for rule in rules for name in apply_rule(rule, SECRETS, os.environ)})
    if left_out and not is_worker(config):
        events_of(config).notice("", _LEFT_OUT.format(names=", ".join(left_out)))
    _guard_others(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Hide secrets also in what is written by plugins that were configured later."""
    _guard_others(session.config)


def _guard_others(config: pytest.Config) -> None:
    guard_reports(config)
    plugin = config.pluginmanager.get_plugin("logging-plugin")
    for name in _LOG_HANDLERS:
        handler: logging.Handler | None = getattr(plugin, name, None)
        formatter = handler.formatter if handler is not None else None
        if handler is not None and formatter is not None and type(formatter) is not _Hiding:
            handler.setFormatter(_Hiding(formatter))


def forget_secrets(config: pytest.Config) -> None:
    """Forget the secrets of this run: a process may have several runs."""
    SECRETS.secrets = config.stash[EARLIER_SECRETS]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a test after its parameter if the value is a secret."""
    return argname if isinstance(val, str) and SECRETS.is_in(val) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Hide secrets in what failed before any test ran."""
    hide_in_report(report)


@pytest.hookimpl(tryfirst=True)
def pytest_internalerror(excrepr: Any) -> None:
    """Hide secrets in an error of pytest or of a plugin."""
    hide_in_report(excrepr)


@pytest.hookimpl(tryfirst=True)
def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """Hide secrets in a warning, and in the line of code that is shown with it."""
    if SECRETS.is_empty:
        return
    message = warning_message.message
    if isinstance(message, Warning):
        message.args = hide_in(message.args)
    line = linecache.getline(warning_message.filename, warning_message.lineno)
    if SECRETS.is_in(line):
        warning_message.line = hide(line)


def hide_in_report(report: object) -> None:
    """Hide secrets in all parts of a report."""
    hide_in(report, packages=_PACKAGES, kept=_KEPT)


class _Hiding(logging.Formatter):
    """Formats records as another formatter does, without secrets."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return hide(self._inner.format(record))
