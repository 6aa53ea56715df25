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
from tests.report.made_runs import START, ended, error, write_run, write_trace

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
        write_trace(tmp_path / "job-1" / "run-a" / name / "trace", f"test_{name}")
        (tmp_path / "job-1" / "run-a" / name / "screenshot.png").write_bytes(b"\x89PNG")
    write_run(tmp_path / "job-2" / "run-b", ended("test_pay", start=START + 9), name="run-b")
    return tmp_path


def told(*arguments: object, **more: Any) -> list[str]:
    """Run the command, which must succeed, and return its lines."""
    lines: list[str] = []
    assert main(list(map(str, arguments)), show=lines.append, environ={}, **more) == 0
    return lines


def data_of(page: Path) -> Any:
    """Return the data of a page."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_pages_and_index_are_made_anew(runs: Path) -> None:
    """Each trace has its page again, and the index of the run leads there."""
    folder = runs / "job-1" / "run-a"

    lines = told(folder)

    assert lines == [f"2 failed: {folder / INDEX_FILE}"]
    assert (folder / "cart" / PAGE_FILE).is_file()
    assert [test["page"] for test in data_of(folder / INDEX_FILE)["tests"]] == [
        "cart/trace.html",
        "carts/trace.html",
    ]


def test_runs_of_several_jobs_become_one_index(runs: Path) -> None:
    """Folders and folders of folders are merged, each run once, in the order of their times."""
    index = runs / "out" / INDEX_FILE

    told(runs / "job-1", runs / "job-2" / "run-b", runs / "job-2", "--output", index)

    data = data_of(index)
    assert [run["name"] for run in data["runs"]] == ["run-a", "run-b"]
    assert len(data["tests"]) == 3
    assert data["tests"][0]["page"] == "../job-1/run-a/cart/trace.html"


def test_a_folder_of_traces_alone_is_a_run(tmp_path: Path) -> None:
    """What is left of a run whose file is lost can be shown."""
    write_trace(tmp_path / "kept" / "trace", "test_it")

    lines = told(tmp_path)

    assert lines == [f"1 failed: {tmp_path / INDEX_FILE}"]


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
    ],
)
def test_what_cannot_be_done_is_told(
    runs: Path,
    arguments: list[str],
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error has a code, what was found, and what to do."""
    (runs / "empty").mkdir()
    monkeypatch.chdir(runs)

    status = main(arguments, show=lambda line: None, environ={})

    shown = capsys.readouterr().err
    assert status == 1
    assert shown.startswith(code)
    assert "hint: " in shown


def test_one_test_is_packed(runs: Path) -> None:
    """A name that is whole wins over one that has it as a part; all files are in the zip."""
    path = runs / "cart.zip"

    lines = told(runs / "job-1", "--zip", "test_cart", "-o", path)

    assert lines == [str(path)]
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
    assert "cart/screenshot.png" in names
    assert "cart/trace/trace.jsonl" in names
    assert not [name for name in names if name.startswith("carts")]


def test_a_hostile_run_packs_nothing_from_elsewhere(tmp_path: Path) -> None:
    """A folder outside that of the run is not one of a test."""
    (tmp_path / "secret").mkdir()
    write_run(tmp_path / "run", ended("test_it", outcome="failed", folder="../secret"))

    assert main([str(tmp_path / "run"), "--zip", "test_it"], environ={}) == 1


def test_the_summary_tells_failures(runs: Path) -> None:
    """GitHub's file gets counts and failures that are alike; other lines stay."""
    summary = runs / "summary.md"
    summary.write_text("before\n")
    run = runs / "job-1" / "run-a"

    assert (
        main([str(run)], show=lambda line: None, environ={"GITHUB_STEP_SUMMARY": str(summary)}) == 0
    )

    text = summary.read_text("utf-8")
    assert text.startswith("before\n### 2 failed\n")
    assert "2 × <code>NODE&#95;NOT&#95;FOUND&#58; no &#39;Cart&#39;</code>" in text
    assert "<img" not in text


def test_a_published_report_has_links_and_pictures(runs: Path) -> None:
    """With the address of the report, tests are links, and a group has a picture."""
    run = runs / "job-1" / "run-a"
    told(run)

    text = summary_text([read_run(run)], url="https://example.com/r/", start=run)

    assert '<a href="https://example.com/r/cart/trace.html">' in text
    assert '<img src="https://example.com/r/cart/screenshot.png"' in text


def test_what_is_not_published_is_told(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs that are not in the folder of the index would have links that lead nowhere."""
    index = runs / "out" / INDEX_FILE

    code = main([str(runs), f"--output={index}", "--url=https://example.com/r"], environ={})

    assert code == 1
    assert f"{Path('job-1', 'run-a')} is not in it" in capsys.readouterr().err


def test_hostile_texts_are_no_markup(tmp_path: Path) -> None:
    """Names and messages of tests stay texts in one line."""
    run = write_run(tmp_path, ended(HOSTILE, outcome="failed", error=error(HOSTILE, None)))

    text = summary_text([read_run(run)], url=None, start=tmp_path)

    for markup in ("<img", "**bold", "`", "[link]", "@all", "\n# title", "| "):
        assert markup not in text


def test_a_summary_is_no_larger_than_github_shows(tmp_path: Path) -> None:
    """However many failures there are, and however long: the rest is counted."""
    long = "<" * 300
    tests = [
        ended(f"{number}{long}", outcome="failed", devices=(long,), error=error(long, f"C_{kind}"))
        for kind in range(26)
        for number in range(12)
    ]
    run = write_run(tmp_path, *tests)

    text = summary_text([read_run(run)], url="https://example.com/r/" + "&" * 900, start=tmp_path)

    assert text.startswith(f"### {len(tests)} failed\n")
    assert "more kinds of failures." in text
    assert len(text.encode()) < 1024 * 1024


def test_a_report_is_shown_on_this_computer_only(runs: Path) -> None:
    """The index and all that it links to are served to those who ask for this computer."""
    index = runs / "out" / INDEX_FILE
    told(runs / "job-1", "--output", index)
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
