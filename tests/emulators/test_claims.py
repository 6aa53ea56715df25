"""Which virtual device belongs to which run."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pytest_clawperator.emulators import claims
from pytest_clawperator.emulators.claims import (
    AvdClaims,
    Traces,
    is_free,
    left_ports,
    reserved_port,
)
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode
from pytest_clawperator.execution.lock_file import lock_path

TRACES = Traces("mine", created=True, port=5554)


def test_a_virtual_device_has_one_holder(tmp_path: Path) -> None:
    """No other run can claim it until it is released; then nothing is left of the claim."""
    claims, others = AvdClaims(tmp_path / "claims"), AvdClaims(tmp_path / "claims")

    claim = claims.take("mine")
    refused = others.take("mine")
    assert claim is not None
    claim.write(TRACES)
    claim.release()
    claim.release()

    assert refused is None
    assert list((tmp_path / "claims").iterdir()) == []
    again = others.take("mine")
    assert again is not None
    assert again.left is None
    again.release()


def test_a_folder_that_cannot_be_used_is_that_of_the_virtual_devices(tmp_path: Path) -> None:
    """The error names the variable that chooses the folder, not that of other lock files."""
    (tmp_path / "avd").touch()

    with pytest.raises(ConfigurationError, match="avd/claims") as raised:
        AvdClaims(tmp_path / "avd" / "claims").take("mine")

    assert "ANDROID_AVD_HOME" in str(raised.value.hint)
    assert "CLAWPERATOR_LEASE_DIR" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (
            b'{"avd_name": "other", "created": true, "port": 5554, "pid_file": 7}',
            TRACES,
        ),
        (b'{"created": 1, "port": "5554"}', Traces("mine")),
        (b'{"created": tr', Traces("mine")),
        (b"[]", Traces("mine")),
        (b"\xff", Traces("mine")),
        (b" \n", None),
    ],
)
def test_what_a_killed_run_wrote_is_read(
    tmp_path: Path, content: bytes, left: Traces | None
) -> None:
    """A file that is not locked states what to end; its name counts, whatever is in it."""
    (tmp_path / "mine.claim").write_bytes(content)

    found = list(AvdClaims(tmp_path).left_behind())

    assert [claim.left for claim in found] == ([left] if left else [])
    for claim in found:
        claim.release()
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_holds_is_not_left_behind(tmp_path: Path) -> None:
    """Other runs leave the claims of a living run alone."""
    claim = AvdClaims(tmp_path).take("mine")
    assert claim is not None
    claim.write(TRACES)

    found = list(AvdClaims(tmp_path).left_behind())
    claim.release()

    assert found == []


def test_the_image_lock_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    """The lock file of an image is removed, and the folder with the last file in it."""
    folder = tmp_path / "claims"
    claims = AvdClaims(folder)
    with claims.lock_image("system-images;a"):
        list(claims.left_behind())
        mode, during = folder.stat().st_mode & 0o777, len([*folder.iterdir()])
    (folder / "system-images_b.image").touch()

    claims.remove_folder()
    stays = folder.exists()
    left = list(claims.left_behind())
    claims.remove_folder()

    assert (mode, during, stays, left) == (0o700, 1, True, [])
    assert not folder.exists()


def test_a_claim_can_be_left_to_another_run(tmp_path: Path) -> None:
    """What is left stays written, and the next run finds it."""
    (tmp_path / "mine.claim").write_bytes(b'{"created": true, "port": 5554}')

    for claim in AvdClaims(tmp_path).left_behind():
        claim.leave()
    (again,) = AvdClaims(tmp_path).left_behind()

    assert again.left == TRACES
    again.release()


def test_a_lock_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """An installer that hangs is not waited for forever; the error says what to end."""
    ticks = iter(range(0, 10_000, 100))
    others = AvdClaims(tmp_path, clock=lambda: float(next(ticks)), pause=lambda _: None)

    with (
        AvdClaims(tmp_path).lock_image("system-images;a"),
        pytest.raises(EmulatorError, match="has been installing system-images;a") as refused,
    ):
        others.lock_image("system-images;a").__enter__()

    assert refused.value.code == ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED


def test_a_lock_is_waited_for_until_an_interrupt(tmp_path: Path) -> None:
    """A run that waits for another one can be interrupted."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    claims, others = AvdClaims(tmp_path), AvdClaims(tmp_path, pause=interrupt)

    with claims.lock_image("system-images;a") as first, pytest.raises(KeyboardInterrupt):
        others.lock_image("system-images;a").__enter__()
    with others.lock_image("system-images;a") as second:
        pass

    assert (first.waited, second.waited) == (False, False)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the lock files of a test in a folder of its own."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


def test_two_never_have_the_same_port(locks: Path) -> None:
    """Ports are even, as the emulator wants them; a lock file is there while one is reserved."""
    with reserved_port() as first, reserved_port(lambda port: port > first + 8) as second:
        during = len([*locks.iterdir()])

    assert claims.FIRST_PORT <= first < second <= claims.LAST_PORT
    assert (first % 2, second % 2) == (0, 0)
    assert during == 2
    assert list(locks.iterdir()) == []


def test_ports_of_killed_runs_are_found_once(locks: Path) -> None:
    """Ports whose lock file no run holds are named, and the files removed; others stay."""
    (locks / lock_path("127.0.0.1:5600", "port").name).touch()

    with reserved_port() as mine:
        left = list(left_ports())
        stays = [path.name for path in locks.iterdir()]

    assert left == [5600]
    assert stays == [lock_path(f"127.0.0.1:{mine}", "port").name]
    assert list(left_ports()) == []


@pytest.mark.parametrize("offset", [0, 1])
def test_a_port_in_use_is_left_out(monkeypatch: pytest.MonkeyPatch, offset: int) -> None:
    """Both ports of an emulator must be free; otherwise that is an error."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(claims, "FIRST_PORT", port - offset)
        monkeypatch.setattr(claims, "LAST_PORT", port - offset)

        assert not is_free(port)
        with pytest.raises(EmulatorError, match="all ports for emulators"), reserved_port():
            pass
