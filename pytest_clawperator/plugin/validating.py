"""``--claw-validate``: the payloads of a suite as its tests, and no device.

Payloads are those of ``claw_payload`` markers, and files: every ``*.claw.json``, and every
``*.json`` in a folder called ``payloads``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import PayloadError
from pytest_clawperator.plugin.marker_values import load_payload, payloads_of
from pytest_clawperator.plugin.run import write_line
from pytest_clawperator.plugin.settings import is_validating


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect payload files as files of tests."""
    if file_path.suffix != ".json" or not is_validating(parent.config):
        return None
    if not file_path.name.endswith(".claw.json") and file_path.parent.name != "payloads":
        return None
    file: pytest.Collector = PayloadFile.from_parent(parent, path=file_path)
    return file


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Replace the tests by the payloads that they declare."""
    if not is_validating(config):
        return
    kept = [payload for item in items for payload in _payloads(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def write_if_no_payload(reporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Report that no payload was found."""
    config = reporter.config
    if is_validating(config) and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        write_line(
            reporter,
            f"--claw-validate: no payload was found in {', '.join(config.args)}: no test there has"
            " a claw_payload marker, and no file is called *.claw.json or is a .json in a folder"
            " called payloads",
            yellow=True,
        )


class PayloadFile(pytest.File):
    """A file that holds one payload."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the payload as a test."""
        yield PayloadItem.from_parent(self, name="payload", declared=self.path)


class PayloadItem(pytest.Item):
    """A payload that is valid or not."""

    def __init__(self, *, declared: Path | Any, **about: Any) -> None:
        super().__init__(**about)
        self.declared = declared

    def runtest(self) -> None:
        """Validate the payload."""
        load_payload(self.declared)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """Show the problems of the payload, without code."""
        if isinstance(excinfo.value, PayloadError):
            return str(excinfo.value)  # its first line is what the summary shows
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the source of the payload, as the headline above its problems."""
        return self.path, None, ": ".join(self.nodeid.rsplit("::", 1))


def _payloads(item: pytest.Item) -> Iterator[pytest.Item]:
    if isinstance(item, PayloadItem):
        yield item
        return
    assert item.parent is not None
    for number, declared in enumerate(payloads_of(item), 1):
        name = declared.name if isinstance(declared, Path) else str(number)
        yield PayloadItem.from_parent(
            item.parent, name=f"{item.name}::claw_payload[{name}]", declared=declared
        )
