"""Attachments for Allure; the only place that knows it."""

from __future__ import annotations

from pathlib import Path


def attach_file(path: Path, *, name: str, mime: str) -> None:
    """Attach a file to the test or the step that Allure is at; without Allure's own plugin nothing.

    Called while a test is reported, it goes to the test itself and not to a fixture of it.
    """
    import allure

    kind = {"attachment_type": mime, "extension": path.suffix[1:]}
    allure.attach.file(str(path), name=name, **kind)  # type: ignore[no-untyped-call]  # no types
