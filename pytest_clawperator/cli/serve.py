"""``serve``: the devices of this machine over HTTP."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import Answer, for_command_line, notice
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem

_PORT_MISTAKE = "--port must be a number from 1 to 65535, or auto for one that is free"


@command(
    "serve",
    examples=[
        "serve",
        "serve --host 0.0.0.0 --token-file ~/.clawperator/token",
        "serve --host rack-1 --allow-host rack-1.lab.example --port 8080",
    ],
)
@click.option("--host", "--bind", default="127.0.0.1", help="The address to listen at.")
@click.option("--port", default="3000", metavar="PORT", help="The port; auto: one that is free.")
@click.option("--token", metavar="TEXT", help="What clients must know; other users may see it.")
@click.option("--token-file", metavar="FILE", help="A file with the token.")
@click.option("--insecure", is_flag=True, help="Ask for no token, though others can connect.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Another name of this machine.")
@click.option(
    "--allow-command", multiple=True, metavar="NAME", help="Another shell command to allow."
)
@click.option("--folder", metavar="DIR", help="Where clients may have screenshots written.")
def serve(
    options: GlobalOptions,
    host: str,
    port: str,
    token: str | None,
    token_file: str | None,
    insecure: bool,
    allow_host: tuple[str, ...],
    allow_command: tuple[str, ...],
    folder: str | None,
) -> Answer:
    """Offer the devices of this machine over HTTP, until Ctrl-C.

    On localhost everyone on this machine may use it; other machines need a token. If none is
    given, one is generated and printed once.
    """
    if token is not None and token_file is not None:
        raise Mistake("use --token OR --token-file, not both")
    if insecure and (token is not None or token_file is not None):
        raise Mistake("use --insecure OR a token, not both")
    _require_packages()
    # starlette and uvicorn are an extra, and take long to import.
    from pytest_clawperator.service.server import ServiceOptions, run_service

    if insecure:
        notice("no token is required: anyone who reaches this machine can use its devices")
    run_service(
        ServiceOptions(
            host=host,
            port=_port(port),
            adb=options.adb,
            token=_read_token(token_file) if token_file is not None else token,
            insecure=insecure,
            allow_hosts=allow_host,
            more_commands=allow_command,
            lease=options.lease,
            operator_package=options.operator_package,
            folder=None if folder is None else Path(folder).absolute(),
            wording=for_command_line,
        ),
        notify=notice,
        started=_report_start,
    )
    return Answer({"ok": True, "stopped": True}, ["stopped"])


def _report_start(url: str, new_token: str | None) -> None:
    notice(f"Clawperator API server listening on {url}")
    if new_token is not None:
        notice(f"token: {new_token}")
        notice("It is shown only now. Clients read CLAWPERATOR_TOKEN.")


def _port(text: str) -> int:
    if text == "auto":
        return 0
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 65536):
        raise Mistake(_PORT_MISTAKE, exit_code=0)  # as published
    return int(text)


def _read_token(path: str) -> str:
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
    except UNUSABLE_FILE as error:
        raise ConfigurationError(
            f"the token cannot be read from {path}: {file_problem(error)}",
            hint="Write it there: `openssl rand -hex 24 > FILE; chmod 600 FILE`.",
        ) from error
    return text.strip()


def _require_packages() -> None:
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the service needs {' and '.join(missing)}",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[serve]'",
        )
