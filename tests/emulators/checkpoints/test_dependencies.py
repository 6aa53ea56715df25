"""What a checkpoint depends on: apps as they are installed, and the function that builds it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_clawperator import Clawperator
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.emulators.checkpoints import installed_apps, source_of
from pytest_clawperator.transport.quoting import quote
from tests.doubles.runner import Phone
from tests.doubles.transport import ScriptedTransport

OPERATOR = "com.clawperator.operator"
BANK = "package:/data/app/~~a==/com.bank-b==/base.apk=com.bank versionCode:7"
BANKER = "package:/data/app/~~c==/com.banker-d==/base.apk=com.banker versionCode:1"
SERVICE = f"package:/data/app/x=={OPERATOR}/base.apk={OPERATOR} versionCode:5"
USER = "ada"


def client_of(answers: dict[Any, Any], *, api_level: int | None = 34) -> Clawperator:
    """Return a client of a device that lists its packages so."""
    info = DeviceInfo(serial="x", key="x", api_level=api_level, operator_package=OPERATOR)
    return Clawperator(Phone(), device=Device(ScriptedTransport(answers), info))


class TestApps:
    """The apps that a state is of."""

    def test_named_apps_and_the_operator_count_as_they_are_installed(self) -> None:
        """A name is not that of another app that begins with it."""
        listing = "pm list packages -f --show-versioncode"
        asked = f"{listing} {quote('com.bank')}; {listing} {quote(OPERATOR)}"
        client = client_of({asked: f"{BANK}\n{BANKER}\n{SERVICE}\n"})

        assert installed_apps(client, ["com.bank"]) == {"com.bank": BANK, OPERATOR: SERVICE}

    def test_without_a_name_all_that_were_installed_count(self) -> None:
        """Before Android 8 they are listed without versions."""
        listing = "pm list packages -f"
        answers = {f"{listing} {quote(OPERATOR)}": SERVICE, f"{listing} -3": f"{BANK}\n{BANKER}"}

        found = installed_apps(client_of(answers, api_level=25), [])

        assert found == {OPERATOR: SERVICE, "com.bank": BANK, "com.banker": BANKER}


def log_in(claw: object, *, user: str = USER) -> str:
    """Log in."""
    return spell(user)


def spell(user: str) -> str:
    """Spell a name."""
    return user.upper()


def log_in_as(user: object) -> Any:
    """Return a function that logs somebody in."""
    return lambda claw: spell(str(user))


def endless(claw: object) -> None:
    """Call itself."""
    endless(claw)


class LogIn:
    """A function with a state."""

    def __call__(self, claw: object) -> None:
        """Log in."""

    def method(self, claw: object) -> None:
        """Log in, too."""


class TestSource:
    """The function that builds a state."""

    @pytest.mark.parametrize(
        "build", [log_in, partial(log_in, user="bob"), endless, LogIn(), LogIn().method, print]
    )
    def test_the_same_function_is_told_in_the_same_way(self, build: Any) -> None:
        """Whatever can be called has a source that stays the same."""
        assert source_of(build) == source_of(build)

    def test_what_it_calls_in_its_module_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A function or a value of its module that changes makes another state."""
        before = source_of(log_in)

        monkeypatch.setitem(globals(), "spell", LogIn)

        assert source_of(log_in) != before

    def test_what_it_was_made_with_counts(self) -> None:
        """Arguments and values around a function make another state."""
        made = [log_in_as("ada"), log_in_as("bob"), log_in_as(["ada"]), log_in_as({"ada": 1})]
        given = [partial(log_in, user=user) for user in ("ada", "bob")]

        assert len({*map(source_of, [*made, *given, log_in])}) == 7

    def test_without_a_file_the_code_counts(self) -> None:
        """What was typed into a console has no source to be read."""
        functions: list[Any] = []
        for text in ("1", "2"):
            space: dict[str, Any] = {}
            exec(f"def build(claw): return [{text} for _ in ()]", space)
            functions.append(space["build"])

        assert source_of(functions[0]) != source_of(functions[1])
