"""Install and update a skills repository with git: from a repository or from a bundle."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_clawperator.errors import ErrorCode, SkillError
from pytest_clawperator.skills.registry import (
    REGISTRY_IN_REPOSITORY,
    installed_repository,
    read_registry,
)
from pytest_clawperator.skills.script import run_script

URL_VARIABLE = "CLAWPERATOR_SKILLS_URL"
DEFAULT_REF = "main"
# How long one call of git may take, in seconds.
_GIT_TIMEOUT = 120.0
_MOST_BUNDLE = 500_000_000
_CHUNK = 1_048_576
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@-]{0,250}")
_HEADS = "+refs/heads/*:refs/remotes/origin/*"


@dataclass(frozen=True)
class Synced:
    """An installed repository, at this ref and commit."""

    folder: Path
    registry: Path
    ref: str
    commit: str

    @property
    def message(self) -> str:
        """A sentence that describes what was done."""
        return f"Skills synced to {self.folder} (ref: {self.ref})"


def sync_skills(
    url: str | None = None, *, ref: str = DEFAULT_REF, folder: Path | None = None
) -> Synced:
    """Install the repository at a url, or update the one that is installed, to a ref.

    ``url`` is a git repository, or a bundle of one: a file, or a URL to download. ``ref`` is a
    branch, a tag or a commit. An installed repository is only fast-forwarded; local changes are
    never discarded.
    """
    folder = folder or installed_repository()
    if not _REF.fullmatch(ref) or ".." in ref:
        raise _failed(f"{ref!r} is not a branch, tag or commit")
    if shutil.which("git") is None:
        raise SkillError(
            "git is not installed or not on PATH",
            code=ErrorCode.SKILLS_GIT_NOT_FOUND,
            hint="Install git, which fetches the skills.",
        )
    if (folder / ".git").exists():
        _update(folder, url, ref)
    else:
        _install(folder, url, ref)
    registry = folder / REGISTRY_IN_REPOSITORY
    try:
        read_registry(registry)
    except SkillError as error:
        raise _failed(f"what was fetched is not a skills repository: {error.message}") from error
    return Synced(folder, registry, ref, _git(folder, "rev-parse", "HEAD").strip())


def _install(folder: Path, url: str | None, ref: str) -> None:
    """Clone into a temporary folder first, so that a failure leaves nothing behind."""
    if not url:
        raise _failed(
            "no skills are installed, and no url was given to install them from",
            hint=f"Give the url of a git repository or of a bundle: `clawperator-py skills install"
            f" URL`, or set {URL_VARIABLE}.",
        )
    if folder.exists() and any(folder.iterdir()):
        raise _failed(f"{folder} exists and is not a git repository", hint="Move it away.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise _failed(f"{folder} cannot be made: {error.strerror}") from error
    try:
        _git(made, "init", "--quiet")
        _git(made, "remote", "add", "--", "origin", _address(url))
        _fetch(made, url)
        _check_out(made, ref)
        with suppress(OSError):
            folder.rmdir()
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _update(folder: Path, url: str | None, ref: str) -> None:
    """Fetch, and check out the new commit."""
    known = _git(folder, "config", "--get", "remote.origin.url", accept=(0, 1)).strip()
    if url and known and _address(url) != known:
        raise _failed(
            f"the skills in {folder} come from {known}, not from {url}",
            hint=f"Remove {folder} to install others, or leave the url out to update these.",
        )
    if not known:
        if not url:
            raise _failed(f"the skills in {folder} have no origin", hint="Give their url.")
        _git(folder, "remote", "add", "--", "origin", _address(url))
    _fetch(folder, known or url or "")
    _check_out(folder, ref)


def _fetch(folder: Path, url: str) -> None:
    with _source(url) as source:
        _git(folder, "fetch", "--quiet", "--tags", "--force", "--", source, _HEADS)


def _check_out(folder: Path, ref: str) -> None:
    """Check out a branch as it was fetched, or a tag or commit."""
    branch = f"refs/remotes/origin/{ref}"
    if _git(folder, "rev-parse", "--verify", "--quiet", branch, accept=(0, 1)):
        if not _git(folder, "branch", "--list", ref):
            _git(folder, "branch", "--quiet", "--no-track", ref, branch)
        _git(folder, "checkout", "--quiet", ref, "--")
        _git(folder, "merge", "--quiet", "--ff-only", branch)
    else:
        _git(folder, "checkout", "--quiet", "--detach", ref, "--")


def _address(url: str) -> str:
    """Return a url in git's form; raise if git would take it for an option."""
    if url.startswith("-") or not url.strip() or "\0" in url:
        raise _failed(f"{url!r} is not the url of a git repository or a bundle")
    return str(Path(url).resolve()) if Path(url).exists() else url


@contextmanager
def _source(url: str) -> Iterator[str]:
    """Yield what git can fetch from: the url itself, or the file of a bundle."""
    is_download = url.startswith(("http://", "https://")) and url.endswith(".bundle")
    if not is_download:
        yield _address(url)
        return
    with tempfile.TemporaryDirectory(prefix="clawperator-skills-") as folder:
        path = Path(folder) / "skills.bundle"
        _download(url, path)
        yield str(path)


def _download(url: str, path: Path) -> None:
    size = 0
    try:
        with urllib.request.urlopen(url, timeout=_GIT_TIMEOUT) as answer, path.open("wb") as file:  # noqa: S310 - http, checked above
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > _MOST_BUNDLE:
                    raise _failed(f"{url} has more than {_MOST_BUNDLE} bytes")
                file.write(chunk)
    except (OSError, ValueError) as error:
        raise _failed(f"{url} cannot be downloaded: {error}") from error


def _git(folder: Path, *words: str, accept: Sequence[int] = (0,)) -> str:
    """Run git and return its output; raise an error with its message if it fails."""
    # Git must never prompt: the question would not be seen.
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        ended = run_script(
            ["git", "-C", str(folder), *words], timeout=_GIT_TIMEOUT, environment=environment
        )
    except (OSError, ValueError) as error:
        raise _failed(f"git cannot be run: {error}") from error
    if ended.code is None:
        raise _failed(f"git {words[0]} took longer than {_GIT_TIMEOUT:g} s")
    if ended.code not in accept:
        raise _failed(f"git {words[0]}: {ended.stderr.text().strip() or ended.code}")
    return ended.stdout.text()


def _failed(why: str, *, hint: str | None = None) -> SkillError:
    return SkillError(
        f"Skills sync failed: {why}",
        code=ErrorCode.SKILLS_SYNC_FAILED,
        hint=hint or "Nothing was changed that cannot be used; correct it and try again.",
    )
