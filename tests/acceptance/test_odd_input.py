"""Odd paths and data that are nested too deeply: an error with a code, wherever they are given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import (
    Action,
    ActionParams,
    Clawperator,
    GoldenStore,
    Snapshot,
    complete_execution,
    connect,
    expect,
    parse_result_message,
    validate_execution,
)
from pytest_clawperator.errors import ClawperatorError, ExpectationError
from pytest_clawperator.plugin.evidence import Artifacts
from pytest_clawperator.plugin.marker_values import load_payload
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.apps.load import load_app

ODD_PATHS = {
    "NUL": "a\0b.png",
    "lone surrogate": "a\ud800b.png",
    "too long": f"{'x' * 5000}.png",
}
DEPTH = 900


@pytest.fixture
def claw(
    connected: Clawperator, simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Clawperator:
    """Return a client of the phone that connect() finds by itself, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(simulator.adb_port))
    monkeypatch.setenv("ANDROID_SERIAL", connected.serial)
    return connected


def assert_coded(act: Callable[[], Any]) -> None:
    """Assert that a call raises an error of ours, with a code, that can be printed."""
    with pytest.raises((ClawperatorError, ExpectationError)) as caught:
        act()

    assert caught.value.code
    assert str(caught.value).encode()


def shot(claw: Clawperator, path: str) -> Any:
    """Take a screenshot by an execution."""
    payload = [{"type": "take_screenshot", "params": {"path": path}}]
    return claw.execute(payload).raise_for_status()


def attach(path: str) -> Any:
    """Attach a file to a test."""
    artifacts = Artifacts(Path("unused"), on_attached=lambda _: None)
    return artifacts.attach("a.png", Path(path))


def golden(folder: str) -> GoldenStore:
    """Return the goldens of a folder."""
    return GoldenStore(Path(folder))


PATH_USES: dict[str, Callable[[Clawperator, str], Any]] = {
    "screenshot": lambda claw, path: claw.screenshot(path),
    "screenshot by Path": lambda claw, path: claw.screenshot(Path(path)),
    "take_screenshot": shot,
    "push from": lambda claw, path: claw.device.push(path, "/sdcard/x"),
    "push to": lambda claw, path: claw.device.push(b"x", f"/nowhere/{path}"),
    "pull": lambda claw, path: claw.device.pull(path),
    "install": lambda claw, path: claw.device.install(path),
    "operator_apk": lambda claw, path: connect(operator_apk=path),
    "golden tree": lambda claw, path: expect(claw).to_match_tree(path),
    "golden picture": lambda claw, path: expect(claw).to_match_screenshot(path),
    "golden folder, read": lambda claw, path: golden(path).read(golden(path).path("a", ".yaml")),
    "golden folder, written": lambda claw, path: golden(path).write(
        golden(path).path("a", ".yaml"), b""
    ),
    "app of the simulator": lambda claw, path: Simulator(apps=[path]).start(),
    "app file": lambda claw, path: load_app(Path(path)),
    "payload file": lambda claw, path: load_payload(Path(path)),
    "attachment": lambda claw, path: attach(path),
    "serial": lambda claw, path: connect(path),
    "adb": lambda claw, path: connect(adb=f"{path}:5037"),
    "url": lambda claw, path: connect(url=f"http://{path}"),
}


@pytest.mark.parametrize("path", ODD_PATHS.values(), ids=ODD_PATHS)
@pytest.mark.parametrize("use", PATH_USES.values(), ids=PATH_USES)
def test_a_path_that_no_file_can_have(
    claw: Clawperator, use: Callable[[Clawperator, str], Any], path: str
) -> None:
    """Whatever is done with it, the error is one of ours."""
    assert_coded(lambda: use(claw, path))


@pytest.mark.usefixtures("claw")
@pytest.mark.parametrize("variable", ["ANDROID_SERIAL", "ANDROID_ADB_SERVER_ADDRESS"])
def test_a_variable_with_bytes_that_are_no_text(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """The environment may hold any byte but NUL; Python reads it as half a character."""
    monkeypatch.setenv(variable, "a\udc80b")

    assert_coded(connect)


def test_a_program_whose_path_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adb program is needed only where no server answers, and this one does not exist."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "9")
    monkeypatch.setenv("ADB_PATH", "a\udc80b")

    assert_coded(connect)


def test_a_nul_does_not_cut_a_command(claw: Clawperator) -> None:
    """The device would run what stands before it, and it would go unnoticed."""
    assert_coded(lambda: claw.device.shell("echo a\0; echo b"))


def nested(kind: str) -> Any:
    """Return data nested so deeply that Python cannot walk them by calling itself."""
    data: Any = "x"
    for _ in range(DEPTH):
        data = {"a": data} if kind == "object" else [data]
    return data


def written(kind: str) -> str:
    """Return such data as JSON."""
    opening, closing = ('{"a":', "}") if kind == "object" else ("[", "]")
    return f"{opening * DEPTH}1{closing * DEPTH}"


def deep(act: Callable[[], Any], frames: int = 150) -> Any:
    """Call a function from as far down the stack as a test usually is, and further."""
    return act() if frames == 0 else deep(act, frames - 1)


DATA_USES: dict[str, Callable[[Clawperator, str], Any]] = {
    "execute": lambda claw, kind: claw.execute(nested(kind)),
    "actions": lambda claw, kind: complete_execution([nested(kind)]),
    "text": lambda claw, kind: complete_execution(written(kind)),
    "bytes": lambda claw, kind: validate_execution(written(kind).encode()),
    "validate": lambda claw, kind: validate_execution(nested(kind)),
    "params": lambda claw, kind: complete_execution([{"type": "click", "params": nested(kind)}]),
    "matcher": lambda claw, kind: claw.execute(
        [{"type": "click", "params": {"matcher": nested(kind)}}]
    ),
    "unknown key": lambda claw, kind: complete_execution(
        {"zzz": nested(kind), "actions": [{"type": "snapshot_ui"}]}
    ),
    "node": lambda claw, kind: claw.node(nested(kind)).click(),
    "node text": lambda claw, kind: claw.node(text=nested(kind)).click(),
    "typed action": lambda claw, kind: claw.execute([Action("a", "click", nested(kind))]),
    "envelope": lambda claw, kind: parse_result_message(
        '[Clawperator-Result] {"commandId":"c","stepResults":' + written(kind) + "}", "c"
    ),
    "expect": lambda claw, kind: expect(nested(kind)),
    "shell": lambda claw, kind: claw.device.shell(nested(kind)),
    "push": lambda claw, kind: claw.device.push(nested(kind), "/sdcard/x"),
    "screenshot": lambda claw, kind: claw.screenshot(nested(kind)),
    "open_app": lambda claw, kind: claw.open_app(nested(kind)),
    "press_key": lambda claw, kind: claw.press_key(nested(kind)),
    "golden": lambda claw, kind: expect(claw).to_match_tree(nested(kind)),
    "timeout": lambda claw, kind: claw.execute([{"type": "snapshot_ui"}], timeout=nested(kind)),
}


@pytest.mark.parametrize("kind", ["object", "list"])
@pytest.mark.parametrize("use", DATA_USES.values(), ids=DATA_USES)
def test_data_that_are_nested_too_deeply(
    claw: Clawperator, use: Callable[[Clawperator, str], Any], kind: str
) -> None:
    """Whatever takes them, the error is one of ours, and it can be read."""
    assert_coded(lambda: deep(lambda: use(claw, kind)))


def test_parameters_that_are_nested_too_deeply() -> None:
    """An object that was made by hand is judged when it is written."""
    params = ActionParams(matcher=nested("object"))

    assert_coded(lambda: deep(params.to_wire))


def test_an_app_file_that_is_nested_too_deeply(tmp_path: Path) -> None:
    """The error names the place in the file."""
    file = tmp_path / "deep.yaml"
    file.write_text(f"package: a.b\nname: N\nstart: home\nscreens: {'[' * DEPTH}{']' * DEPTH}\n")

    assert_coded(lambda: deep(lambda: load_app(file)))


def test_a_screen_that_is_nested_deeply_can_be_searched() -> None:
    """A hierarchy of nine hundred levels is read, and one of nine thousand is an error."""

    def screen(levels: int) -> Snapshot:
        node = '<node text="a" bounds="[0,0][1,1]">'
        xml = f'<hierarchy rotation="0">{node * levels}{"</node>" * levels}</hierarchy>'
        return Snapshot.from_xml(xml)

    assert deep(lambda: screen(DEPTH).count(text="a")) == DEPTH
    assert_coded(lambda: deep(lambda: screen(10 * DEPTH)))
