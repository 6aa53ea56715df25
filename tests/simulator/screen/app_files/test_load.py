"""Loading app files."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.apps.load import (
    load_app,
    parse_app,
    plain_app,
    shipped_apps,
    shipped_files,
)
from tests.doubles.simulator.screen_phone import HEAD
from tests.simulator.screen.sample_apps import MAIN


def test_a_file_is_loaded_and_its_path_begins_its_errors(tmp_path: Path) -> None:
    """A user's own file is read, and its path is what errors begin with."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(HEAD + MAIN)
    bad.write_text(HEAD + "screens: 7\n")

    assert load_app(good).name == "Demo"
    with pytest.raises(ConfigurationError) as refused:
        load_app(bad)
    assert refused.value.message.startswith(f"{bad}:4:1: ")


@settings(max_examples=50, deadline=None, database=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["text", "list", "items", "on_tap", "set", "if", "then", "navigate"]),
            inner, max_size=3,
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_items_are_taken_or_refused(items: object) -> None:
    """Whatever stands where widgets should, it is taken or refused with a ConfigurationError."""
    with contextlib.suppress(ConfigurationError):
        parse_app(HEAD + "screens:\n  main:\n    items: " + json.dumps(items) + "\n")


def test_the_shipped_apps_are_read_once() -> None:
    """Three apps come along, and asking again gives the same ones."""
    apps = shipped_apps()

    assert {"com.android.settings", "com.example.shop", "com.clawperator.conformance"} <= {
        app.package for app in apps
    }
    assert all(first is second for first, second in zip(apps, shipped_apps(), strict=True))


def test_the_shipped_files_have_no_mistakes() -> None:
    """They pass every check that a user's own file has to pass."""
    loaded = [load_app(path).package for path in shipped_files()]

    assert loaded == [app.package for app in shipped_apps()]


def test_a_plain_app_needs_no_file() -> None:
    """An app that has nothing but a name can be made without a file."""
    app = plain_app("com.example.plain", name="{Plain}", activity="a.b.Main", launcher=False)

    assert list(app.activities) == ["a.b.Main"]
    assert app.screens["main"].title is not None
    assert app.screens["main"].title.constant == "{Plain}"
