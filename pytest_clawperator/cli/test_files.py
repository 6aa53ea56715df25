"""``convert`` and ``schema``: test files as Python, and their schema for editors."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.test_files.file import as_python, read_test_file
from pytest_clawperator.test_files.schema import schema_of_test_files


@command(
    "convert",
    examples=["convert test_shop.claw.yaml", "convert test_shop.claw.yaml > test_shop.py"],
)
@click.argument("file", metavar="FILE")
def convert(options: GlobalOptions, file: str) -> Answer:
    """Print a test file as Python; the file itself is not changed."""
    path = Path(file).absolute()
    here = Path.cwd()
    written = as_python(read_test_file(path, root=here if here in path.parents else path.parent))
    return Answer({"file": file, "python": written}, text=written)


@command("schema", examples=["schema > claw.schema.json"])
def schema(options: GlobalOptions) -> Answer:
    """Print the JSON schema of test files, with which editors complete and check them."""
    document = schema_of_test_files()
    return Answer(document, text=json.dumps(document, indent=1) + "\n")
