"""Attachments for Allure, and its results without secrets; the only place that imports it."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from pytest_clawperator.redaction.documents import hide_in_document
from pytest_clawperator.redaction.nested import hide_in
from pytest_clawperator.redaction.redaction import SECRETS

_PACKAGES = ("allure_commons",)
# What Allure knows results and files by.
_KEPT = ("uuid", "historyId", "testCaseId", "status", "stage", "source", "type", "children")
_GUARD = "clawperator-guard"


def attach_file(path: Path, *, name: str, mime: str) -> None:
    """Attach a file to Allure's current test or step; without Allure's own plugin do nothing.

    Called while a test is reported, it attaches to the test and not to one of its fixtures.
    """
    import allure  # an extra

    kind = {"attachment_type": mime, "extension": path.suffix[1:]}
    allure.attach.file(str(path), name=name, **kind)  # type: ignore[no-untyped-call]  # no types


def guard() -> None:
    """Hide secrets in all that Allure writes from now on, however often this is called."""
    import allure_commons  # an extra

    manager = allure_commons.plugin_manager
    if manager.has_plugin(_GUARD):
        return

    class Guard:
        @allure_commons.hookimpl(tryfirst=True)
        def report_result(self, result: Any) -> None:
            _hide(result)

        @allure_commons.hookimpl(tryfirst=True)
        def report_container(self, container: Any) -> None:
            _hide(container)

        @allure_commons.hookimpl(hookwrapper=True)
        def report_attached_data(self, file_name: str) -> Generator[None, Any, None]:
            yield
            for writer in manager.get_plugins():
                _hide_in_file(getattr(writer, "_report_dir", None), file_name)

    manager.register(Guard(), _GUARD)


def _hide(thing: Any) -> None:
    hide_in(thing, packages=_PACKAGES, kept=_KEPT)


def _hide_in_file(folder: Path | None, name: str) -> None:
    """Hide secrets in a text that a test attached; pictures and the like are left alone."""
    if folder is None or SECRETS.is_empty:
        return
    path = Path(folder) / name
    content = path.read_bytes()
    if b"\0" in content:
        return
    hidden = hide_in_document(content, name=name)
    if hidden != content:
        path.write_bytes(hidden)
