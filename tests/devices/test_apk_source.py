"""APKs from files and urls: limits, checksums, and nothing left behind."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request

import pytest

from pytest_clawperator.devices.apk_source import DownloadLimits, SafeRedirects, local_apk
from pytest_clawperator.errors import ClawperatorError

APK = b"PK" + bytes(600_000)
SUM = hashlib.sha256(APK).hexdigest()
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/operator.apk": (200, {"Content-Length": str(len(APK))}, APK),
    "/page.apk": (200, {}, b"<html>please sign in</html>"),
    "/empty.apk": (200, {"Content-Length": "0"}, b""),
    "/half.apk": (200, {"Content-Length": str(len(APK) * 2)}, APK),
    "/moved.apk": (302, {"Location": "/operator.apk"}, b""),
    "/away.apk": (302, {"Location": "file:///etc/passwd"}, b""),
    "/round.apk": (302, {"Location": "/round.apk"}, b""),
    "/broken.apk": (500, {}, b""),
}


class Downloads(BaseHTTPRequestHandler):
    """Serves an APK, and files that are not one."""

    def do_GET(self) -> None:
        """Answer by the path."""
        status, headers, body = ANSWERS.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve downloads on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Downloads) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep downloads where the test can see them, and use no proxy."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("no_proxy", "*")
    return folder


@pytest.mark.parametrize("path", ["operator.apk", "moved.apk"])
def test_a_url_is_downloaded_and_removed_afterwards(url: str, downloads: Path, path: str) -> None:
    """The file is there while it is used, its progress is reported, and it is gone afterwards."""
    received: list[tuple[int, int | None]] = []

    with local_apk(
        f"{url}/{path}", sha256=SUM.upper(), progress=lambda *at: received.append(at)
    ) as apk:
        assert (apk.read_bytes(), apk.name) == (APK, path)

    assert received[-1] == (len(APK), len(APK))
    assert list(downloads.iterdir()) == []


def test_a_file_with_its_checksum_is_used_where_it_is(tmp_path: Path) -> None:
    """Nothing is copied, and nothing is removed."""
    file = tmp_path / "operator.apk"
    file.write_bytes(APK)

    with local_apk(str(file), sha256=SUM) as apk:
        assert apk == file

    assert file.exists()


FAILED = "OPERATOR_DOWNLOAD_FAILED"


@pytest.mark.parametrize(
    ("source", "sha256", "code", "why"),
    [
        ("{url}/page.apk", None, FAILED, "page.apk.*the file is not an APK"),
        ("{url}/empty.apk", None, FAILED, "empty.apk.*only 0 of"),
        ("{url}/half.apk", None, FAILED, "half.apk"),
        ("{url}/nowhere.apk", None, "OPERATOR_APK_NOT_FOUND", "nowhere.apk.*404"),
        ("{url}/broken.apk", None, FAILED, "broken.apk.*500"),
        ("{url}/away.apk", None, FAILED, "away.apk.*not allowed"),
        ("{url}/round.apk", None, FAILED, "round.apk"),
        ("{url}/operator.apk", "0" * 64, "OPERATOR_CHECKSUM_MISMATCH", SUM),
        ("{folder}/operator.apk", "0" * 64, "OPERATOR_CHECKSUM_MISMATCH", SUM),
        ("{folder}/missing.apk", SUM, "OPERATOR_APK_NOT_FOUND", "missing.apk"),
        ("nul\0.apk", SUM, "OPERATOR_APK_NOT_FOUND", "nul"),
        ("operator.apk", "abc", "CONFIGURATION_INVALID", "'abc' is not a SHA-256 checksum"),
        ("ftp://x/y.apk", None, "CONFIGURATION_INVALID", "cannot be downloaded"),
        ("file:///etc/passwd", None, "CONFIGURATION_INVALID", "cannot be downloaded"),
        ("javascript://x", None, "CONFIGURATION_INVALID", "cannot be downloaded"),
    ],
)
def test_an_unusable_source_is_refused(
    url: str, tmp_path: Path, downloads: Path, source: str, sha256: str | None, code: str, why: str
) -> None:
    """The error names the source and the reason, and no download is left."""
    (tmp_path / "operator.apk").write_bytes(APK)
    source = source.format(url=url, folder=tmp_path)

    with pytest.raises(ClawperatorError, match=why) as caught, local_apk(source, sha256=sha256):
        pytest.fail("it was accepted")

    assert caught.value.code == code
    assert list(downloads.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (DownloadLimits(most_bytes=1000), "larger than"),
        (DownloadLimits(within=-1.0), "not complete after"),
        (DownloadLimits(silence=0.05), "timed out"),
    ],
)
def test_a_download_has_limits(url: str, limits: DownloadLimits, why: str) -> None:
    """A download that is too large or too slow is given up, and so is a silent server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Downloads) as silent:
        host = f"http://127.0.0.1:{silent.server_port}" if "timed" in why else url

        with (
            pytest.raises(ClawperatorError, match=why) as caught,
            local_apk(f"{host}/operator.apk", limits=limits),
        ):
            pytest.fail("it was accepted")

    assert caught.value.code == FAILED


def test_no_redirect_leads_from_https_to_http() -> None:
    """What was asked for over a safe connection does not come over another one."""
    handler, secure = SafeRedirects(), Request("https://host/operator.apk")

    with pytest.raises(URLError, match="not followed"):
        handler.redirect_request(secure, BytesIO(), 302, "Found", {}, "http://host/x.apk")
