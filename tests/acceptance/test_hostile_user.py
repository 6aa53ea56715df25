"""Another user of the machine attacks the lock files: nothing is harmed, and nothing hangs."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.holder import UNKNOWN
from pytest_clawperator.execution.flight import boot_id
from pytest_clawperator.execution.lock_file import lock_path
from tests.acceptance.other_users import ADA, BOB, MALLORY, OtherUser

pytestmark = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="by design: only root can be other users"
)

SECRET = b"precious"
DEVICE_NODE = stat.S_IFCHR | 0o666, os.makedev(1, 5)
FAR_FUTURE = {
    "command_id": "never",
    "latest_end": 1e12,
    "pid": 1,
    "boot": boot_id(),
    "arrived": True,
    "after": "",
}
LIE = replace(UNKNOWN, owner="ada", pid=1, host="here", run_id="r1", token="t").to_json()


@dataclass(frozen=True)
class Scene:
    """A folder of root for the locks, a home of the victim's, and the attacker."""

    place: Path
    mallory: OtherUser

    @property
    def locks(self) -> Path:
        """The folder of the locks."""
        return self.place / "locks"

    @property
    def secret(self) -> Path:
        """A file of the victim's, which the victim opened up to others."""
        return self.place / "home" / "secret"

    @property
    def files(self) -> list[Path]:
        """The three lock files of the phone."""
        kinds = ("flight", "lease", "holder")
        return [lock_path("phone", kind, folder=self.locks) for kind in kinds]

    def unharmed(self, owner: int) -> bool:
        """Whether the victim's home and file are as they were."""
        home, secret = self.secret.parent.stat(), self.secret.stat()
        assert (home.st_uid, stat.S_IMODE(home.st_mode)) == (owner, 0o711)
        assert (secret.st_uid, stat.S_IMODE(secret.st_mode)) == (owner, 0o666)
        assert [path.name for path in self.secret.parent.iterdir()] == ["secret"]
        return self.secret.read_bytes() == SECRET


@pytest.fixture(scope="module")
def users() -> Iterator[dict[str, OtherUser]]:
    """Start honest users; root may do everything, so deceiving root pays most."""
    users = {
        name: OtherUser.honest(user) for name, user in (("ada", ADA), ("bob", BOB), ("root", 0))
    }
    yield users
    for user in users.values():
        user.kill()


@pytest.fixture(params=["ada", "root"])
def victim(users: dict[str, OtherUser], request: pytest.FixtureRequest) -> OtherUser:
    """Return the user who is attacked."""
    return users[request.param]


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Make the folders, where all users can reach them."""
    place = Path(tempfile.mkdtemp(prefix="claw-hostile-", dir="/tmp"))
    scene = Scene(place, OtherUser.hostile())
    place.chmod(0o1777)
    scene.locks.mkdir()
    scene.locks.chmod(0o1777)
    yield scene
    scene.mallory.kill()
    shutil.rmtree(place)


def furnish(scene: Scene, owner: int) -> None:
    """Make the home of the victim."""
    scene.secret.parent.mkdir()
    scene.secret.write_bytes(SECRET)
    for path, mode in ((scene.secret.parent, 0o711), (scene.secret, 0o666)):
        path.chmod(mode)
        os.chown(path, owner, owner)


def make_devices(scene: Scene) -> None:
    """Put device nodes, which only root can make, in the place of lock files."""
    for path in scene.files:
        try:
            os.mknod(path, *DEVICE_NODE)
        except PermissionError:
            pytest.skip("by design: here even root can make no devices")


def replace_folder(scene: Scene, by: str, *arguments: object) -> None:
    """Have the attacker put something in the place of the folder."""
    scene.locks.rmdir()
    scene.mallory.do(by, *arguments)


def write(scene: Scene, content: str, *, mode: int = 0o666, is_locked: bool = False) -> None:
    """Write this into files that belong to the attacker."""
    scene.mallory.do("write", content, mode, is_locked, *scene.files)


#: Each trick with the victim's error; such a file must never be used.
REFUSED: dict[str, tuple[Callable[[Scene], Any], str]] = {
    "a folder of the attacker's": (
        lambda scene: replace_folder(scene, "own_folder", scene.locks, 0o1777),
        "belongs to user",
    ),
    "a link to the home": (
        lambda scene: replace_folder(scene, "symlink", scene.secret.parent, scene.locks),
        "is a symbolic link",
    ),
    "devices": (make_devices, "is a device"),
    "links to a file": (
        lambda scene: scene.mallory.do("symlink", scene.secret, *scene.files),
        "is a symbolic link",
    ),
    "links to nothing": (
        lambda scene: scene.mallory.do("symlink", scene.place / "new", *scene.files),
        "is a symbolic link",
    ),
    "hard links": (
        lambda scene: scene.mallory.do("hard_link", scene.secret, *scene.files),
        "names of the same file",
    ),
}


@pytest.mark.parametrize("trick", REFUSED)
def test_anything_put_in_the_place_of_locks_is_refused(
    scene: Scene, victim: OtherUser, trick: str
) -> None:
    """The victim's error says what is there and what to do, and nothing is lost."""
    furnish(scene, victim.user)
    attack, message = REFUSED[trick]
    attack(scene)

    answers = [victim.do(use, scene.locks) for use in ("fly", "lease")]

    for answer in answers:
        assert answer["raised"] == "ConfigurationError"
        assert message in answer["message"]
        assert "CLAWPERATOR_LEASE_DIR" in answer["message"]
    assert scene.unharmed(victim.user)
    assert not (scene.place / "new").exists()


def test_a_folder_that_changes_all_the_time_is_used_or_refused(
    scene: Scene, victim: OtherUser
) -> None:
    """However the attacker swaps folder and link meanwhile, the victim's home stays as it was."""
    furnish(scene, victim.user)
    scene.locks.rmdir()
    scene.mallory.do("swap", scene.locks, scene.secret.parent)

    raised = set()
    for _ in range(100):
        raised.add(victim.do("fly", scene.locks).get("raised"))
        with suppress(OSError):
            scene.locks.rmdir()  # one that the victim made would stay
    scene.mallory.do("end_swap")

    assert raised <= {None, "ConfigurationError"}
    assert scene.unharmed(victim.user)


def test_contents_by_the_attacker_are_reported_and_replaced(
    scene: Scene, victim: OtherUser
) -> None:
    """The victim gets a notice, waits for nothing, and works."""
    write(scene, json.dumps(FAR_FUTURE))

    flown, leased = victim.do("fly", scene.locks), victim.do("lease", scene.locks)
    again = victim.do("fly", scene.locks)

    assert "had contents that no run wrote" in flown["problem"]
    assert leased == {"taken": True, "holder": "None"}
    assert again == {"problem": ""}


@pytest.mark.parametrize(
    ("content", "shown"), [(LIE, "ada (process 1 on here"), ("[" * 900, "no readable name in")]
)
def test_files_that_the_attacker_holds_are_in_use(
    scene: Scene, victim: OtherUser, content: str, shown: str
) -> None:
    """Whatever they contain, the victim is refused immediately, and gets the phone later."""
    write(scene, content, is_locked=True)
    held = victim.do("fly", scene.locks), victim.do("lease", scene.locks)

    scene.mallory.do("let_go")
    free = victim.do("lease", scene.locks)

    assert held[0]["raised"] == "ExecutionConflictError"
    assert not held[1]["taken"]
    assert shown in held[1]["holder"]
    assert free["taken"]


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="by design: only Linux has names without files"
)
def test_a_name_that_the_attacker_took_is_a_conflict(scene: Scene, victim: OtherUser) -> None:
    """The victim learns immediately that the phone is taken, and gets it afterwards."""
    digest = sha256(os.fsencode(scene.files[0])).digest()
    scene.mallory.do("take_name", (b"\0pytest-clawperator-" + digest).hex())
    taken = victim.do("fly", scene.locks)

    scene.mallory.do("let_go")
    free = victim.do("fly", scene.locks)

    assert taken["raised"] == "ExecutionConflictError"
    assert free == {"problem": ""}


def test_closed_files_name_their_owner(scene: Scene, users: dict[str, OtherUser]) -> None:
    """A file that the victim may not open is an error that names its owner."""
    write(scene, "", mode=0o600)

    answers = [users["ada"].do(use, scene.locks) for use in ("fly", "lease")]

    for answer in answers:
        assert answer["raised"] == "ConfigurationError"
        assert f"belongs to user {MALLORY}" in answer["message"]


def test_files_of_the_victim_cannot_be_taken_away(scene: Scene, victim: OtherUser) -> None:
    """The attacker can neither remove, rename nor replace them, nor the folder."""
    victim.do("hold", scene.locks)
    attacks = [
        scene.mallory.do("remove", *scene.files),
        scene.mallory.do("replace", *scene.files),
        scene.mallory.do("move", scene.files[0], scene.locks / "elsewhere"),
        scene.mallory.do("move", scene.locks, scene.place / "elsewhere"),
    ]

    checks = [victim.do("check", number) for number in (0, 1)]
    victim.do("release")

    assert {attack["raised"] for attack in attacks} == {"PermissionError"}
    assert checks == [None, None]


def test_honest_users_share_a_phone(scene: Scene, users: dict[str, OtherUser]) -> None:
    """One has it at a time, which the other sees; leftover files do not hinder anyone."""
    ada, bob = users["ada"], users["bob"]
    for path in scene.files:
        path.touch()
        path.chmod(0o666)
        os.chown(path, ADA, ADA)
    ada.do("hold", scene.locks)
    refused = bob.do("fly", scene.locks), bob.do("lease", scene.locks)

    ada.do("release")
    free = bob.do("fly", scene.locks), bob.do("lease", scene.locks)

    assert refused[0]["raised"] == "ExecutionConflictError"
    assert refused[1]["taken"] is False
    assert "run honest" in refused[1]["holder"]
    assert free == ({"problem": ""}, {"taken": True, "holder": "None"})
