"""Skills for one device."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pytest_clawperator.errors import ExecutionsOnlyError, SkillError
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.run import DeviceSkills
from tests.doubles.skill_repository import add_skill


def test_a_script_gets_device_and_environment(registry_path: Path) -> None:
    """The serial first, then its words; and whom to ask for the device."""
    add_skill(registry_path, "com.a.b", script='echo "$@" $ADB_SERVER_SOCKET $LENT')
    skills = DeviceSkills(
        adb="127.0.0.1:5", registry=partial(read_registry, registry_path), more={"LENT": "yes"}
    )

    done = skills.run("phone-1", "com.a.b", ["x"], timeout=None, wanted=None)

    assert done.output == "phone-1 x tcp:127.0.0.1:5 yes\n"


def test_a_device_without_adb_runs_no_scripts(registry_path: Path) -> None:
    """Recipes are executions, which it runs."""
    skills = DeviceSkills(adb=None, registry=partial(read_registry, registry_path))

    with pytest.raises(ExecutionsOnlyError):
        skills.run("phone-1", "com.example.shop.echo", [], timeout=None, wanted=None)

    assert skills.compile("com.example.mail.open", "open", {"APP": "x"}).actions


def test_doubtful_recipes_are_refused(registry_path: Path) -> None:
    """A test says what it means."""
    skills = DeviceSkills(adb=None, registry=partial(read_registry, registry_path))

    with pytest.raises(SkillError) as caught:
        skills.compile("com.example.mail.open", "open", {"APP": "x", "B": 1})

    assert caught.value.code == "COMPILE_VAR_UNKNOWN"
