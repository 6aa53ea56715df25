"""``python -m pytest_clawperator.report``: pages rebuilt, runs merged, shown, packed, summed up."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import zipfile
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_clawperator.report.command import main, server_of, summary_text
from pytest_clawperator.report.index import INDEX_FILE, PAGE_FILE, read_run
from tests.report.made_traces import START, ended, error, write_run, write_short_trace

HOSTILE = "<img src=x onerror=alert(1)> **bold** `code` | [link](http://evil) @all\n# title"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Write the folders of two jobs; in one of them a test failed and has files."""
    write_run(
        tmp_path / "job-1" / "run-a",
        ended("test_cart", outcome="failed", error=error("no 'Cart'"), folder="cart"),
        ended("test_carts", outcome="failed", error=error("no 'Carts'"), folder="carts"),
        name="run-a",
    )
    for name in ("cart", "carts"):
        write_short_trace(tmp_path / "job-1" / "run-a" / name / "trace", f"test_{name}")
        (tmp_path / "job-1" / "run-a" / name / "screenshot.png").write_bytes(b"\x89PNG")
    write_run(tmp_path / "job-2" / "run-b", ended("test_pay", start=START + 9), name="run-b")
    return tmp_path


def made(*arguments: object, **more: Any) -> list[str]:
    """Run the command, which must succeed, and return its lines."""
    lines: list[str] = []
    assert main(list(map(str, arguments)), show=lines.append, environ={}, **more) == 0
    return lines


def data_of(page: Path) -> Any:
    """Return the data of a page."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_pages_and_index_are_made_again(runs: Path) -> None:
    """Each trace has its page, and the index of the run or of several jobs leads there."""
    folder, index = runs / "job-1" / "run-a", runs / "out" / INDEX_FILE

    assert made(folder) == [f"2 failed: {folder / INDEX_FILE}"]
    assert (folder / "cart" / PAGE_FILE).is_file()
    pages = [test["page"] for test in data_of(folder / INDEX_FILE)["tests"]]
    assert pages == ["cart/trace.html", "carts/trace.html"]

    made(runs / "job-1", runs / "job-2" / "run-b", runs / "job-2", "--output", index)
    data = data_of(index)
    assert [run["name"] for run in data["runs"]] == ["run-a", "run-b"]
    assert len(data["tests"]) == 3
    assert data["tests"][0]["page"] == "../job-1/run-a/cart/trace.html"

    write_short_trace(runs / "alone" / "kept" / "trace", "test_it")
    assert made(runs / "alone") == [f"1 failed: {runs / 'alone' / INDEX_FILE}"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere"], "FILE_UNAVAILABLE: nowhere does not exist"),
        (["empty"], "CONFIGURATION_INVALID: empty has no run.jsonl and no trace"),
        (["job-1/run-a/run.jsonl"], "FILE_UNAVAILABLE: job-1/run-a/run.jsonl is not a folder"),
        (["job-1", "job-2"], "CONFIGURATION_INVALID: the index of 2 folders"),
        (["job-1", "--zip", "test_c"], "CONFIGURATION_INVALID: --zip test_c: several tests fit"),
        (["job-1", "--zip", "pay"], "CONFIGURATION_INVALID: --zip pay: no test with files fits"),
        (["job-1", "-o", "job-1/run-a/run.jsonl/x"], "FILE_UNAVAILABLE: "),
        (["job-1", "--serve", "--port", "99999"], "CONFIGURATION_INVALID: --port 99999"),
        (["job-1", "--summary", "no/where.md"], "FILE_UNAVAILABLE: the summary no/where.md"),
        (["hostile", "--zip", "test_it"], "CONFIGURATION_INVALID: --zip test_it: no test"),
        ([".", "--output=out/index.html", "--url=https://example.com/r"], "CONFIGURATION_INVALID"),
    ],
)
def test_what_cannot_be_done_is_refused(
    runs: Path,
    arguments: list[str],
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error has a code, what was found, and what to do."""
    (runs / "empty").mkdir()
    if arguments[0] == "hostile":  # a folder outside that of the run is not one of a test
        write_run(runs / "hostile", ended("test_it", outcome="failed", folder="../job-1"))
    monkeypatch.chdir(runs)

    status = main(arguments, show=lambda line: None, environ={})

    shown = capsys.readouterr().err
    assert status == 1
    assert shown.startswith(code)
    assert "hint: " in shown


def test_one_test_is_packed(runs: Path) -> None:
    """A name that is whole wins over one that has it as a part; all files are in the zip."""
    path = runs / "cart.zip"

    lines = made(runs / "job-1", "--zip", "test_cart", "-o", path)

    assert lines == [str(path)]
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
    assert "cart/screenshot.png" in names
    assert "cart/trace/trace.jsonl" in names
    assert not [name for name in names if name.startswith("carts")]


def test_the_summary_lists_failures(runs: Path) -> None:
    """GitHub's file gets counts and groups; with the report's address, links and a picture."""
    summary = runs / "summary.md"
    summary.write_text("before\n")
    run = runs / "job-1" / "run-a"
    environ = {"GITHUB_STEP_SUMMARY": str(summary)}

    assert main([str(run)], show=lambda line: None, environ=environ) == 0
    text = summary.read_text("utf-8")
    published = summary_text([read_run(run)], url="https://example.com/r/", start=run)

    assert text.startswith("before\n### 2 failed\n")
    assert "2 × <code>NODE&#95;NOT&#95;FOUND&#58; no &#39;Cart&#39;</code>" in text
    assert "<img" not in text
    assert '<a href="https://example.com/r/cart/trace.html">' in published
    assert '<img src="https://example.com/r/cart/screenshot.png"' in published


def test_a_summary_is_safe_and_no_larger_than_github_shows(tmp_path: Path) -> None:
    """Names and messages stay texts in one line; of too many failures the rest is counted."""
    run = write_run(tmp_path / "a", ended(HOSTILE, outcome="failed", error=error(HOSTILE, None)))
    text = summary_text([read_run(run)], url=None, start=tmp_path)
    for markup in ("<img", "**bold", "`", "[link]", "@all", "\n# title", "| "):
        assert markup not in text

    long = "<" * 300
    tests = [
        ended(f"{number}{kind}{long}", outcome="failed", devices=(long,), error=error(long, kind))
        for kind in (f"C_{place}" for place in range(26))
        for number in range(12)
    ]
    run = write_run(tmp_path / "b", *tests)

    text = summary_text([read_run(run)], url="https://example.com/r/" + "&" * 900, start=tmp_path)

    assert text.startswith(f"### {len(tests)} failed\n")
    assert "more kinds of failures." in text
    assert len(text.encode()) < 1024 * 1024


def test_a_report_is_shown_on_this_computer_only(runs: Path) -> None:
    """The index and all that it links to, for requests that name this computer."""
    index = runs / "out" / INDEX_FILE
    made(runs / "job-1", "--output", index)
    server, url = server_of(index, [runs / "job-1" / "run-a"])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = urlsplit(url)
        assert address.hostname == "127.0.0.1"
        assert server.socket.family == socket.AF_INET
        answers = [
            ask(server.server_port, path, host)
            for path, host in (
                (address.path, f"127.0.0.1:{server.server_port}"),
                ("/job-1/run-a/cart/trace.html", f"localhost:{server.server_port}"),
                (address.path, "evil.example"),
                ("/../../etc/passwd", f"127.0.0.1:{server.server_port}"),
            )
        ]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert answers == [200, 200, 403, 404]


def ask(port: int, path: str, host: str) -> int:
    """Return the status of an answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_command_is_a_program(runs: Path) -> None:
    """It runs as a module, and needs neither pytest nor a device."""
    command = [sys.executable, "-m", "pytest_clawperator.report", "job-2/run-b"]

    done = subprocess.run(command, cwd=runs, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 passed: job-2/run-b/index.html\n"
