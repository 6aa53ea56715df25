"""Where the Operator's APK comes from: a file, or a url that is downloaded with limits."""

from __future__ import annotations

import hashlib
import hmac
import re
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ConfigurationError,
    ErrorCode,
    OperatorNotReadyError,
    file_problem,
)

Progress = Callable[[int, "int | None"], None]


_SCHEMES = ("http", "https")

_SHA256 = re.compile(r"[0-9a-f]{64}")

_PIECE = 256 * 1024

# Every APK is a zip file.
_ZIP = b"PK"


@dataclass(frozen=True, kw_only=True)
class DownloadLimits:
    """How large a download may be, and how long it and each silence in it may take."""

    most_bytes: int = 512 * 1024 * 1024
    within: float = 600.0
    silence: float = 30.0


def is_url(source: str) -> bool:
    """Return whether an APK is to be downloaded: a local path has no scheme."""
    return "://" in source


def check_sha256(text: str) -> str:
    """Return a checksum in lower case; raise if it is not a SHA-256 checksum."""
    lowered = text.strip().lower()
    if _SHA256.fullmatch(lowered):
        return lowered
    raise ConfigurationError(
        f"{text!r} is not a SHA-256 checksum",
        hint="It is 64 digits and letters from a to f, as `sha256sum FILE` prints it.",
    )


@contextmanager
def local_apk(
    source: str,
    *,
    sha256: str | None = None,
    progress: Progress = lambda received, size: None,
    limits: DownloadLimits | None = None,
) -> Iterator[Path]:
    """Yield the file of an APK, downloaded if it is a url; what was downloaded is removed.

    With ``sha256`` the file must have this checksum. ``progress`` is called with the bytes
    that were received and, if that is known, how many there are.
    """
    wanted = check_sha256(sha256) if sha256 is not None else None
    if not is_url(source):
        if wanted is not None:
            _check_sum(_sum_of(Path(source)), wanted, source)
        yield Path(source)
        return
    folder = Path(tempfile.mkdtemp(prefix="clawperator-apk-"))
    try:
        path = folder / _file_name(source)
        found = _download(source, path, progress, limits or DownloadLimits())
        if wanted is not None:
            _check_sum(found, wanted, source)
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _file_name(url: str) -> str:
    name = re.sub(r"[^\w.-]", "_", urlsplit(url).path.rpartition("/")[2])[-100:].lstrip(".")
    return name if name.endswith(".apk") else f"{name or 'operator'}.apk"


def _download(url: str, path: Path, progress: Progress, limits: DownloadLimits) -> str:
    """Download a file and return its checksum."""
    if urlsplit(url).scheme not in _SCHEMES:
        raise ConfigurationError(
            f"an APK cannot be downloaded from {url!r}",
            hint="Allowed are http:// and https:// urls, and paths on this computer.",
        )
    try:
        with _opener().open(url, timeout=limits.silence) as answer, path.open("wb") as file:
            return _received(answer, file, url, progress, limits)
    except HTTPError as error:
        error.close()
        missing = error.code in (404, 410)
        code = ErrorCode.OPERATOR_APK_NOT_FOUND if missing else ErrorCode.OPERATOR_DOWNLOAD_FAILED
        raise _failed(url, f"the server said {error.code} {error.reason}", code) from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise _failed(url, str(reason) or type(error).__name__) from error


def _received(
    answer: Any, file: IO[bytes], url: str, progress: Progress, limits: DownloadLimits
) -> str:
    size = answer.headers.get("Content-Length", "")
    total = int(size) if size.isdecimal() else None
    deadline = time.monotonic() + limits.within
    digest, received = hashlib.sha256(), 0
    while piece := answer.read1(_PIECE):
        if received == 0 and not piece.startswith(_ZIP):
            raise _failed(url, "the file is not an APK")
        received += len(piece)
        if received > limits.most_bytes or (total or 0) > limits.most_bytes:
            most = limits.most_bytes // 2**20
            raise _failed(url, f"it is larger than {most} MiB, the most that is downloaded")
        if time.monotonic() > deadline:
            raise _failed(url, f"it was not complete after {limits.within:g} s")
        digest.update(piece)
        file.write(piece)
        progress(received, total)
    if received == 0 or (total is not None and received < total):
        raise _failed(url, f"only {received} of {total or 'unknown'} bytes came")
    return digest.hexdigest()


class SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to web addresses only, and none from https to http."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any
    ) -> Any:
        """Refuse what a download must not be led to."""
        before, after = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if after not in _SCHEMES or (before, after) == ("https", "http"):
            fp.close()
            raise URLError(f"it leads to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        SafeRedirects(),
    ):
        opener.add_handler(handler)
    return opener


def _sum_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except UNUSABLE_FILE as error:
        raise OperatorNotReadyError(
            f"{str(path)!r} cannot be read: {file_problem(error)}",
            code=ErrorCode.OPERATOR_APK_NOT_FOUND,
            hint="Correct the path; it is one on this computer.",
        ) from error
    return digest.hexdigest()


def _check_sum(found: str, wanted: str, source: str) -> None:
    if not hmac.compare_digest(found, wanted):
        raise OperatorNotReadyError(
            f"{source} is not the file that was meant: its SHA-256 checksum is {found}, and"
            f" {wanted} was given",
            code=ErrorCode.OPERATOR_CHECKSUM_MISMATCH,
            hint="Nothing was installed. Download it again, and see where the checksum is from.",
            details={"found": found, "wanted": wanted},
        )


def _failed(
    url: str, why: str, code: ErrorCode = ErrorCode.OPERATOR_DOWNLOAD_FAILED
) -> OperatorNotReadyError:
    return OperatorNotReadyError(
        f"{url} could not be downloaded: {why}",
        code=code,
        hint="Open it in a browser; or download the file yourself and give its path.",
        details={"url": url},
    )
