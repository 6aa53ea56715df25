"""The file that says how the simulated SDK behaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.scenario import (
    FILE,
    EmulatorScenario,
    Scenario,
    read_scenario,
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """A scenario survives its file."""
    scenario = Scenario(
        emulator=EmulatorScenario(boot_seconds=3.0, faults=("booting",)),
        emulators={"slow-*": {"boot_seconds": 60.0}},
        images=("system-images;android-3*",),
    )

    scenario.write(tmp_path)

    assert read_scenario(tmp_path) == scenario


def test_an_emulator_behaves_as_its_name_says() -> None:
    """Patterns are applied in their order, over what holds for all."""
    scenario = Scenario(
        emulator=EmulatorScenario(boot_seconds=1.0),
        emulators={
            "slow-*": {"boot_seconds": 60.0},
            "slow-crash": {"crash": "booting"},
        },
    )

    assert scenario.of_emulator("quick") == scenario.emulator
    assert scenario.of_emulator("slow-one").boot_seconds == 60.0
    crashing = scenario.of_emulator("slow-crash")
    assert (crashing.boot_seconds, crashing.crash) == (60.0, "booting")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"speed": 1}, "there is no speed"),
        ({"emulator": {"boot": 1}}, "there is no emulator.boot"),
        ({"emulator": {"boot_seconds": "1"}}, "emulator.boot_seconds is '1'"),
        ({"emulator": {"boot_seconds": -1}}, "a number from 0"),
        ({"emulator": {"crash": "later"}}, "allowed are ''"),
        ({"emulators": {"x": {"never": "ends"}}}, "emulators.x.never is 'ends'"),
        ({"images": "all"}, "a list of texts"),
        ({"licences": True}, "of another kind"),
        ([], "not a JSON object"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, values: object, text: str) -> None:
    """The error names the entry and what is allowed."""
    (tmp_path / FILE).write_text(json.dumps(values))

    with pytest.raises(ConfigurationError) as raised:
        read_scenario(tmp_path)

    assert text in str(raised.value)


def test_nothing_senseless_is_written(tmp_path: Path) -> None:
    """What differs for one emulator is checked before."""
    with pytest.raises(ConfigurationError):
        Scenario(emulators={"x": {"nonsense": 1}}).write(tmp_path)

    assert list(tmp_path.iterdir()) == []
