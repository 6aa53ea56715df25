"""Which virtual device belongs to which run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.emulators.run.claims import Claims, Traces

TRACES = Traces("mine", created=True, port=5554, pid_file="/tmp/mine.pid")


def test_a_virtual_device_has_one_holder(tmp_path: Path) -> None:
    """Nobody else can claim it until it is released; then nothing is left of the claim."""
    claims, others = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")

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


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (
            b'{"avd_name": "other", "created": true, "port": 5554, "pid_file": "/tmp/mine.pid"}',
            TRACES,
        ),
        (b'{"created": 1, "port": "5554", "pid_file": 7}', Traces("mine")),
        (b'{"created": tr', Traces("mine")),
        (b"[]", Traces("mine")),
        (b"\xff", Traces("mine")),
        (b" \n", None),
    ],
)
def test_what_a_killed_run_wrote_is_read(
    tmp_path: Path, content: bytes, left: Traces | None
) -> None:
    """A file that nobody has locked tells what to end; whatever is in it, its name counts."""
    (tmp_path / "mine.claim").write_bytes(content)

    found = list(Claims(tmp_path).left_behind())

    assert [claim.left for claim in found] == ([left] if left else [])
    for claim in found:
        claim.release()
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_holds_is_not_left_behind(tmp_path: Path) -> None:
    """The claims of a living run are nobody else's to end."""
    claim = Claims(tmp_path).take("mine")
    assert claim is not None
    claim.write(TRACES)

    found = list(Claims(tmp_path).left_behind())
    claim.release()

    assert found == []


def test_a_lock_is_waited_for_until_an_interrupt(tmp_path: Path) -> None:
    """Who waits for another run can be interrupted, and knows afterwards that it waited."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    claims, others = Claims(tmp_path), Claims(tmp_path, pause=interrupt)

    with claims.lock("system-images;a") as waited, pytest.raises(KeyboardInterrupt):
        others.lock("system-images;a").__enter__()
    with others.lock("system-images;a") as waited_again:
        pass

    assert (waited, waited_again) == (False, False)
