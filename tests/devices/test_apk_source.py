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
from pytest_clawperator.errors import ClawperatorError, ConfigurationError, OperatorNotReadyError

APK = b"PK" + bytes(600_000)

SUM = hashlib.sha256(APK).hexdigest()


class Downloads(BaseHTTPRequestHandler):
    """Serves an APK, and what is none."""

    def do_GET(self) -> None:
        """Answer by the path."""
        answers = {
            "/operator.apk": (200, {"Content-Length": str(len(APK))}, APK),
            "/page.apk": (200, {}, b"<html>please sign in</html>"),
            "/empty.apk": (200, {"Content-Length": "0"}, b""),
            "/half.apk": (200, {"Content-Length": str(len(APK) * 2)}, APK),
            "/moved.apk": (302, {"Location": "/operator.apk"}, b""),
            "/away.apk": (302, {"Location": "file:///etc/passwd"}, b""),
            "/round.apk": (302, {"Location": "/round.apk"}, b""),
            "/broken.apk": (500, {}, b""),
        }
        status, headers, body = answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve downloads on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Downloads)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let downloads be kept where the test can see them, and use no proxy."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path


@pytest.mark.parametrize("path", ["operator.apk", "moved.apk"])
def test_a_url_is_downloaded_and_removed_afterwards(url: str, own_folder: Path, path: str) -> None:
    """The file is there while it is used, with its progress told, and gone afterwards."""
    told: list[tuple[int, int | None]] = []

    with local_apk(
        f"{url}/{path}", sha256=SUM.upper(), progress=lambda *at: told.append(at)
    ) as apk:
        data, name = apk.read_bytes(), apk.name

    assert data == APK
    assert name == path
    assert told[-1] == (len(APK), len(APK))
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "code", "why"),
    [
        ("page.apk", "OPERATOR_DOWNLOAD_FAILED", "the file is not an APK"),
        ("empty.apk", "OPERATOR_DOWNLOAD_FAILED", "only 0 of"),
        ("half.apk", "OPERATOR_DOWNLOAD_FAILED", ""),
        ("nowhere.apk", "OPERATOR_APK_NOT_FOUND", "404"),
        ("broken.apk", "OPERATOR_DOWNLOAD_FAILED", "500"),
        ("away.apk", "OPERATOR_DOWNLOAD_FAILED", "not allowed"),
        ("round.apk", "OPERATOR_DOWNLOAD_FAILED", ""),
    ],
)
def test_what_is_no_apk_is_refused(
    url: str, own_folder: Path, path: str, code: str, why: str
) -> None:
    """The error names the url and the reason, and nothing is left."""
    with pytest.raises(OperatorNotReadyError, match=path) as caught, local_apk(f"{url}/{path}"):
        pytest.fail("it was accepted")

    assert caught.value.code == code
    assert why in caught.value.message
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (DownloadLimits(most_bytes=1000), "larger than"),
        (DownloadLimits(within=-1.0), "not complete after"),
    ],
)
def test_a_download_has_limits(url: str, limits: DownloadLimits, why: str) -> None:
    """What is too large or takes too long is given up."""
    with (
        pytest.raises(OperatorNotReadyError, match=why) as caught,
        local_apk(f"{url}/operator.apk", limits=limits),
    ):
        pytest.fail("it was accepted")

    assert caught.value.code == "OPERATOR_DOWNLOAD_FAILED"


def test_a_server_that_is_silent_is_given_up(own_folder: Path) -> None:
    """A server that takes the connection and says nothing ends the download."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Downloads)
    silent = f"http://127.0.0.1:{server.server_port}/operator.apk"

    with (
        pytest.raises(OperatorNotReadyError, match="timed out") as caught,
        local_apk(silent, limits=DownloadLimits(silence=0.05)),
    ):
        pytest.fail("it was accepted")

    server.server_close()
    assert caught.value.code == "OPERATOR_DOWNLOAD_FAILED"


def test_no_redirect_leads_from_https_to_http() -> None:
    """What was asked for over a safe connection does not come over another one."""
    handler, secure = SafeRedirects(), Request("https://host/operator.apk")

    with pytest.raises(URLError, match="not followed"):
        handler.redirect_request(secure, BytesIO(), 302, "Found", {}, "http://host/x.apk")


@pytest.mark.parametrize("source", ["ftp://x/y.apk", "file:///etc/passwd", "javascript://x"])
def test_only_web_addresses_are_downloaded(source: str) -> None:
    """Other schemes are refused with what is allowed."""
    with pytest.raises(ConfigurationError, match="cannot be downloaded"), local_apk(source):
        pytest.fail("it was accepted")


@pytest.mark.parametrize("where", ["file", "url"])
def test_a_wrong_checksum_is_refused(url: str, tmp_path: Path, where: str) -> None:
    """A file whose checksum is another one is not installed."""
    file = tmp_path / "operator.apk"
    file.write_bytes(APK)
    source = str(file) if where == "file" else f"{url}/operator.apk"

    with (
        pytest.raises(OperatorNotReadyError, match=SUM) as caught,
        local_apk(source, sha256="0" * 64),
    ):
        pytest.fail("it was accepted")

    assert caught.value.code == "OPERATOR_CHECKSUM_MISMATCH"


def test_a_file_with_its_checksum_is_used_where_it_is(tmp_path: Path) -> None:
    """Nothing is copied, and nothing is removed."""
    file = tmp_path / "operator.apk"
    file.write_bytes(APK)

    with local_apk(str(file), sha256=SUM) as apk:
        assert apk == file

    assert file.exists()


@pytest.mark.parametrize(
    ("source", "sha256", "code"),
    [
        ("missing.apk", SUM, "OPERATOR_APK_NOT_FOUND"),
        ("nul\0.apk", SUM, "OPERATOR_APK_NOT_FOUND"),
        ("operator.apk", "abc", "CONFIGURATION_INVALID"),
    ],
)
def test_what_cannot_be_summed_has_a_code(source: str, sha256: str, code: str) -> None:
    """A file that is not there, and a checksum that is none, are errors of ours."""
    with pytest.raises(ClawperatorError) as caught, local_apk(source, sha256=sha256):
        pytest.fail("it was accepted")

    assert caught.value.code == code
