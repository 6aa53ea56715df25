"""Installing and updating with the real git, from a repository and from a bundle."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_clawperator.errors import SkillError
from pytest_clawperator.skills.registry import read_registry
from pytest_clawperator.skills.sync import sync_skills
from tests.doubles.skill_repository import add_skill


def git(folder: Path, *words: str) -> str:
    """Run git with a name and an address."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def origin(registry_path: Path) -> Path:
    """Make the repository one of git, with a tag and a commit after it."""
    root = registry_path.parent.parent
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    git(root, "tag", "v1")
    add_skill(registry_path, "com.example.new.skill")
    commit(root)
    return root


def commit(root: Path) -> None:
    """Commit all that is there."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=change")


def count(registry: Path) -> int:
    """Return how many skills there are."""
    return len(read_registry(registry).skills)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where skills are installed."""
    return tmp_path / "home" / ".clawperator" / "skills"


def test_a_repository_is_installed_and_updated(origin: Path, folder: Path) -> None:
    """To the branch first, and later to what came since."""
    installed = sync_skills(str(origin), folder=folder)
    first = count(installed.registry)
    add_skill(origin / "skills" / "skills-registry.json", "com.example.newer.skill")
    commit(origin)

    updated = sync_skills(folder=folder)

    assert (first, count(updated.registry)) == (3, 4)
    assert updated.commit == git(origin, "rev-parse", "HEAD")
    assert list(folder.parent.iterdir()) == [folder]


def test_a_repository_is_pinned_and_released_again(origin: Path, folder: Path) -> None:
    """To a tag, to a commit, and back to the branch."""
    first = git(origin, "rev-parse", "v1")

    counts = [
        count(sync_skills(str(origin), ref=ref, folder=folder).registry)
        for ref in ("v1", "main", first, "main")
    ]

    assert counts == [2, 3, 2, 3]


@pytest.fixture
def bundle_url(origin: Path, tmp_path: Path) -> Iterator[str]:
    """Offer a bundle over HTTP on this machine."""
    served = tmp_path / "served"
    served.mkdir()
    git(origin, "bundle", "create", "--quiet", str(served / "skills.bundle"), "--all")
    handler = partial(SimpleHTTPRequestHandler, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/skills.bundle"
        server.shutdown()
        thread.join()


def test_a_bundle_is_downloaded_and_updated(
    origin: Path, folder: Path, bundle_url: str, tmp_path: Path
) -> None:
    """Its address is remembered."""
    first = count(sync_skills(bundle_url, folder=folder).registry)
    add_skill(origin / "skills" / "skills-registry.json", "com.example.newer.skill")
    commit(origin)
    made = tmp_path / "served" / "skills.bundle"
    git(origin, "bundle", "create", "--quiet", str(made), "--all")

    assert (first, count(sync_skills(folder=folder).registry)) == (3, 4)


def test_a_bundle_can_be_a_file(origin: Path, folder: Path, tmp_path: Path) -> None:
    """No network is needed."""
    path = tmp_path / "skills.bundle"
    git(origin, "bundle", "create", "--quiet", str(path), "--all")

    assert count(sync_skills(str(path), ref="v1", folder=folder).registry) == 2


@pytest.mark.parametrize(
    ("url", "ref"),
    [(None, "main"), ("--upload-pack=touch x", "main"), ("/no/such/place", "main"),
     ("ORIGIN", "nope"), ("ORIGIN", "--orphan"), ("ORIGIN", "a..b"), ("ORIGIN", ""),
     ("ext::sh -c true", "main")],
)  # fmt: skip
def test_what_cannot_be_fetched_leaves_nothing(
    origin: Path, folder: Path, url: str | None, ref: str
) -> None:
    """No url, no repository, no ref, and what git would take for an option."""
    with pytest.raises(SkillError) as caught:
        sync_skills(str(origin) if url == "ORIGIN" else url, ref=ref, folder=folder)

    assert caught.value.code == "SKILLS_SYNC_FAILED"
    assert not folder.exists()
    assert not folder.parent.exists() or list(folder.parent.iterdir()) == []


def test_what_is_changed_there_is_not_thrown_away(origin: Path, folder: Path) -> None:
    """The update fails with the message of git."""
    sync_skills(str(origin), ref="v1", folder=folder)
    (folder / "skills" / "skills-registry.json").write_text("mine")

    with pytest.raises(SkillError, match="would be overwritten"):
        sync_skills(folder=folder)

    assert (folder / "skills" / "skills-registry.json").read_text() == "mine"


def test_other_skills_do_not_replace_those_that_are_there(origin: Path, folder: Path) -> None:
    """The hint is to remove the folder."""
    sync_skills(str(origin), folder=folder)

    with pytest.raises(SkillError, match=r"come from .*repository, not from"):
        sync_skills("https://example.invalid/others.git", folder=folder)


def test_a_repository_without_skills_is_refused(folder: Path, tmp_path: Path) -> None:
    """After it was fetched."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    git(other, "init", "--quiet", "--initial-branch=main")
    commit(other)

    with pytest.raises(SkillError, match="not a skills repository"):
        sync_skills(str(other), folder=folder)


def test_a_missing_git_has_its_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says that it is missing."""
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SkillError) as caught:
        sync_skills("x", folder=folder)

    assert caught.value.code == "SKILLS_GIT_NOT_FOUND"
