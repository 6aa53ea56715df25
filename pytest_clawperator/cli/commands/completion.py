"""``completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import missing_argument
from pytest_clawperator.cli.output import Answer

SHELLS = ("bash", "zsh", "fish")
# The variable by which a shell asks for completions; click's own name for it.
_VARIABLE = "_CLAWPERATOR_PY_COMPLETE"
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
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.command, {}, program, _VARIABLE).source()
    return Answer({"shell": shell, "script": script}, text=script)
