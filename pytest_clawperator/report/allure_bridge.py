"""Attachments for Allure; the only place that imports it."""

from __future__ import annotations

from pathlib import Path


def attach_file(path: Path, *, name: str, mime: str) -> None:
    """Attach a file to Allure's current test or step; without Allure's own plugin do nothing.

    Called while a test is reported, it attaches to the test and not to one of its fixtures.
    """
    import allure  # an extra

    kind = {"attachment_type": mime, "extension": path.suffix[1:]}
    allure.attach.file(str(path), name=name, **kind)  # type: ignore[no-untyped-call]  # no types
