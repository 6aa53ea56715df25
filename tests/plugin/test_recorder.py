"""What is kept of a test: its own files, and the evidence of its failures."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_clawperator.devices.health import await_return
from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.plugin.evidence import Artifacts, folder_name, safe_file_name
from pytest_clawperator.report.index import RUN_FILE
from pytest_clawperator.report.sinks import Attachment
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import QUICK, Run, kept, names

FILES = ["envelopes.json", "log.txt", "screenshot.png", "snapshot.xml"]
TRACE = ["trace", "trace.html"]


# Files of a test


def test_folder_names_are_readable_safe_short_and_unique() -> None:
    """A folder is named after its test, in letters that every file system accepts."""
    name = folder_name("tests/ui/test_login.py::TestForm::test_wrong[käse/../x:y]")
    nodes = ["a/test_x.py::test_a", "b/test_x.py::test_a", "a/test_x.py::test_A"]

    assert name.startswith("test_login-TestForm-test_wrong-k-se-..-x-y-")
    assert len(folder_name("test_x.py::test_" + "x" * 500)) < 80
    assert len({folder_name(node).lower() for node in nodes}) == 3


def test_a_file_name_stays_in_its_folder_and_keeps_its_suffix() -> None:
    """What could lead elsewhere, or is a device on Windows, is replaced."""
    cases = {
        "cart.json": "cart.json",
        "../../etc/passwd": "etc-passwd",
        "a b\\c:d?.png": "a-b-c-d.png",
        "con.txt": "_con.txt",
        "...": "file",
        "x" * 300 + ".png": "x" * 76 + ".png",
    }

    assert {name: safe_file_name(name) for name in cases} == cases


def test_attached_bytes_become_a_file(tmp_path: Path) -> None:
    """The folder is made only then; a name without a suffix gets one, a taken name a number."""
    attached: list[Attachment] = []
    artifacts = Artifacts(tmp_path / "run" / "test", on_attached=attached.append)
    before = list(tmp_path.iterdir())

    path = artifacts.attach("cart.json", b"{}")
    notes = [artifacts.attach("note", text, "text/plain") for text in (b"1", b"2", b"3")]

    assert (before, path, path.read_bytes()) == ([], tmp_path / "run/test/cart.json", b"{}")
    assert attached[0] == Attachment(name="cart.json", path=path, mime="application/json")
    assert [one.name for one in notes] == ["note.txt", "note-2.txt", "note-3.txt"]
    assert notes[0].read_bytes() == b"1"


def test_an_attached_file_is_copied(tmp_path: Path) -> None:
    """A file that is in the folder already stays where it is."""
    source = tmp_path / "source.txt"
    source.write_bytes(b"text")
    artifacts = Artifacts(tmp_path / "test")
    inside = artifacts.folder / "own.txt"
    inside.write_bytes(b"own")

    copied = artifacts.attach("copy.txt", source)

    assert (copied.read_bytes(), artifacts.attach("own.txt", inside)) == (b"text", inside)
    assert names(artifacts.folder) == ["copy.txt", "own.txt"]


def test_what_cannot_be_attached_is_refused(tmp_path: Path) -> None:
    """A missing file is named; a text could be content or a path, so it is neither."""
    artifacts = Artifacts(tmp_path / "test")
    text: object = "text"

    with pytest.raises(ConfigurationError, match=r"gone\.txt cannot be attached") as caught:
        artifacts.attach("x.txt", tmp_path / "gone.txt")
    with pytest.raises(ConfigurationError, match="found str, wanted bytes or a Path"):
        artifacts.attach("x.txt", text)  # type: ignore[arg-type]

    assert caught.value.code is ErrorCode.FILE_UNAVAILABLE


def test_a_folder_is_never_shared_and_is_made_again(tmp_path: Path) -> None:
    """A folder that exists belongs to another run; one that was deleted is created again."""
    first, second = (Artifacts(tmp_path / "test-1.5") for _ in range(2))
    folders = [first.folder.name, second.folder.name]
    shutil.rmtree(first.folder)
    was_empty = first.is_empty

    path = first.attach("a.txt", b"2")

    assert folders == ["test-1.5", "test-1.5-2"]
    assert (was_empty, path, path.read_bytes()) == (True, tmp_path / "test-1.5/a.txt", b"2")


@pytest.mark.parametrize("blocked", ["run", "run/test/a.txt"])
def test_a_place_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: str
) -> None:
    """A file in place of a folder, or a full disk, is named with what to do."""
    artifacts = Artifacts(tmp_path / "run" / "test")
    if blocked == "run":
        (tmp_path / "run").write_bytes(b"a file")
    else:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "open", full)

    with pytest.raises(ConfigurationError, match=f"{blocked}.* cannot be written: ") as caught:
        artifacts.attach("a.txt", b"1")

    assert caught.value.code is ErrorCode.FILE_UNAVAILABLE
    assert "--claw-output" in str(caught.value.hint)


def test_attached_files_are_kept_without_a_device(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """They are properties of the test, and a failure names them."""
    result = run_plain(
        "--junitxml=report.xml",
        suite="""
        def test_passes(clawperator_artifacts):
            path = clawperator_artifacts.attach("cart", b"{}", "application/json")
            assert path == clawperator_artifacts.folder / "cart.json"

        def test_empty(clawperator_artifacts):
            assert list(clawperator_artifacts.folder.iterdir()) == []

        def test_fails(clawperator_artifacts):
            clawperator_artifacts.attach("note.txt", b"look")
            assert 0
        """,
    )

    result.assert_outcomes(passed=2, failed=1)
    path = kept(pytester)["test_passes"] / "cart.json"
    assert path.read_bytes() == b"{}"
    shown = path.relative_to(pytester.path)
    junit = (pytester.path / "report.xml").read_text()
    assert f'<property name="clawperator_attachment" value="{shown}"' in junit
    folder = kept(pytester)["test_fails"].relative_to(pytester.path)
    result.stdout.fnmatch_lines(["*- clawperator: evidence -*", f"{folder}", "  note.txt"])
    result.stdout.fnmatch_lines(["*= evidence =*", f"{folder.parent}", f"  {folder.name}"])


# Evidence

SUITE = """
import pytest
from pytest_clawperator import connect

@pytest.fixture
def bad_start(clawperator):
    assert 0

@pytest.fixture
def bad_end(clawperator):
    yield
    clawperator.open_app("com.android.settings")
    assert 0

@pytest.fixture
def other(clawperator_lease, clawperator_transport):
    serials = [serial for serial, _ in clawperator_transport.server.devices()]
    serial = next(one for one in serials if one != clawperator_transport.serial)
    with connect(serial, adb=clawperator_lease.adb) as client:
        yield client

def test_passes(clawperator):
    clawperator.device.shell("log -t marker of-the-first")
    clawperator.home()

def test_skips(clawperator):
    pytest.skip("later")

@pytest.mark.xfail
def test_xfails(clawperator):
    assert 0

def test_without_device():
    assert 0

def test_fails(clawperator, record_property):
    record_property("ticket", "A-1")
    clawperator.device.shell("log -t marker of-the-second")
    clawperator.home()
    assert 0

def test_asks(request):
    request.getfixturevalue("clawperator_client")
    assert 0

def test_two_devices(clawperator, other):
    assert 0

def test_setup(bad_start): pass

def test_teardown(bad_end): pass

def test_last_teardown(bad_end): pass
"""


def test_each_failure_leaves_evidence(pytester: pytest.Pytester, run: Run) -> None:
    """Of every phase and device, whichever way the client came; other tests leave nothing."""
    result = run("-ojunit_family=xunit1", suite=SUITE)

    result.assert_outcomes(passed=3, skipped=1, xfailed=1, failed=4, errors=3)
    found = {test: names(folder) for test, folder in kept(pytester).items()}
    both = found.pop("test_two_devices")
    unused = FILES[1:]  # nothing was executed
    assert found == {
        "test_asks": [*unused[1:], *TRACE],  # and nothing logged
        "test_fails": [*FILES, *TRACE],
        "test_setup": [*(f"setup-{name}" for name in unused), *TRACE],
        "test_teardown": [*(f"teardown-{name}" for name in FILES), *TRACE],
        "test_last_teardown": [*(f"teardown-{name}" for name in FILES), *TRACE],
    }
    assert [re.sub(r"^127\.0\.0\.1-\d+-", "other-", name) for name in both] == [
        *(f"other-{name}" for name in unused[1:]),
        *unused,
        *TRACE,
    ]


def test_evidence_is_what_its_name_says(pytester: pytest.Pytester, run: Run) -> None:
    """Its files are of the test alone, named in the report, in JUnit XML and in the summary."""
    junit = ("--junitxml=report.xml", "-ojunit_family=xunit1")

    result = run(*junit, "-k", "test_passes or test_fails", suite=SUITE)

    found = kept(pytester)["test_fails"]
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", found.parent.name)
    assert (found / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(found / "snapshot.xml").getroot().tag == "hierarchy"
    (sent,) = json.loads((found / "envelopes.json").read_bytes())
    assert sent["execution"]["actions"][0]["type"] == "press_key"
    assert sent["envelope"]["status"] == "success"
    log = (found / "log.txt").read_text()
    assert sent["execution"]["commandId"] in log
    assert ("of-the-first" in log, "of-the-second" in log) == (False, True)
    shown = found.relative_to(pytester.path)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: evidence of failures goes to {shown.parent}",
            "*- clawperator: evidence -*",
            f"{shown}",
            *("  log.txt", "  envelopes.json", "  screenshot.png", "  snapshot.xml"),
            *("*= evidence =*", f"{shown.parent}", f"  {shown.name}"),
        ]
    )
    assert result.stdout.str().count(str(shown)) == 1
    case = ET.parse(pytester.path / "report.xml").getroot().find(".//testcase[@name='test_fails']")
    assert case is not None
    listed = [(str(one.get("name")), str(one.get("value"))) for one in case.iter("property")]
    properties = dict(listed)
    assert len(properties) == len(listed)
    assert properties["clawperator_screenshot"] == f"{shown}/screenshot.png"
    assert (properties["ticket"], properties["clawperator_api"]) == ("A-1", "36")
    kinds = ("device", "model", "log", "snapshot", "envelopes", "trace")
    assert properties.keys() >= {f"clawperator_{kind}" for kind in kinds}


def test_a_crash_is_reported_with_its_own_test(pytester: pytest.Pytester, run: Run) -> None:
    """Crashes and ANRs are in failure and summary, and marked in the log; forged ones are not."""
    result = run(
        *("--claw-screenshot=off", "--claw-snapshot=off", "--claw-trace=off"),
        suite="""
        import pytest

        SHOP = "com.example.shop"

        @pytest.fixture
        def claw(request):
            return request.getfixturevalue("clawperator")

        @pytest.mark.claw_app(SHOP)
        def test_crashes(claw):
            claw.device.shell(f"am crash {SHOP}")
            claw.home()
            assert 0

        def test_without(): assert 0

        def test_after(claw): assert 0

        def test_hangs(claw):
            claw.device.shell("log -p e -t ActivityManager 'ANR in com.example.forged'")
            claw.device.shell(f"sim anr {SHOP}")
            claw.home()
            assert 0
        """,
    )

    result.assert_outcomes(failed=4)
    anr = "com.example.shop does not respond (ANR): Input dispatching timed out"
    result.stdout.fnmatch_lines(
        [
            "*- clawperator: com.example.shop crashed: *shell-induced crash -*",
            "* E AndroidRuntime: FATAL EXCEPTION: main",
            "  log.txt (com.example.shop crashed: *)",
            f"*- clawperator: {anr} -*",
            "* E ActivityManager: ANR in com.example.shop (com.example.shop/.MainActivity)",
            f"  log.txt ({anr})",
            "*= evidence =*",
            "    com.example.shop crashed: *shell-induced crash",
            f"    {anr}",
        ]
    )
    assert result.stdout.str().count("- clawperator: com.example.shop crashed") == 1
    found = kept(pytester)
    assert {test: names(folder) for test, folder in found.items()} == {
        "test_after": ["log.txt"],
        "test_crashes": ["envelopes.json", "log.txt"],
        "test_hangs": ["envelopes.json", "log.txt"],
    }
    logs = {test: (folder / "log.txt").read_text() for test, folder in found.items()}
    assert logs["test_crashes"].startswith("line ")
    assert re.search(r"^>>> .* FATAL EXCEPTION: main$", logs["test_crashes"], re.MULTILINE)
    assert "FATAL EXCEPTION" not in logs["test_after"]
    marked = [line for line in logs["test_hangs"].splitlines() if line.startswith(">>> ")]
    assert [line.rpartition(": ")[2] for line in marked] == [
        "ANR in com.example.shop (com.example.shop/.MainActivity)",
        *("0", "Input dispatching timed out"),
    ]


def test_each_attempt_is_reported_by_itself(pytester: pytest.Pytester, run: Run) -> None:
    """With reruns each attempt has its own folder, log and properties, and is in the summary."""
    pytest.importorskip("pytest_rerunfailures")

    result = run(
        *("--reruns=2", "-p", "rerunfailures", "--junitxml=report.xml"),
        *("--claw-logcat=on", "--claw-screenshot=off", "--claw-snapshot=off"),
        suite="""
        attempts = []

        def test_flaky(request):
            attempts.append(1)
            claw = request.getfixturevalue("clawperator")
            claw.device.shell(f"log -t marker of-{len(attempts)}.")
            claw.home()
            assert len(attempts) == 3
        """,
    )

    result.stdout.fnmatch_lines(["* 1 passed, 2 rerun in *"])
    result.stdout.fnmatch_lines(
        ["*= evidence =*", "claw-results/*", *(f"  *attempt-{number}" for number in (1, 2, 3))],
        consecutive=True,
    )
    found = kept(pytester)["test_flaky"]
    for attempt in (1, 2, 3):
        log = (found / f"attempt-{attempt}" / "log.txt").read_text()
        assert re.findall(r"marker *: of-(\d)\.$", log, re.MULTILINE) == [str(attempt)]
    lines = (found.parent / RUN_FILE).read_text("ascii").splitlines()
    tests = [line for line in map(json.loads, lines) if line["kind"] == "test"]
    attempts = [(test["attempt"], test["outcome"]) for test in tests]
    assert attempts == [(1, "rerun"), (2, "rerun"), (3, "passed")]
    assert [Path(test["page"]).parent.name for test in tests[:2]] == ["attempt-1", "attempt-2"]
    cases = list(ET.parse(pytester.path / "report.xml").getroot().iter("testcase"))
    assert len(cases) == 3
    for attempt, case in enumerate(cases, 1):
        listed = [(str(one.get("name")), str(one.get("value"))) for one in case.iter("property")]
        files = ["log", "envelopes", *(["trace"] if attempt < 3 else [])]
        assert [name.removeprefix("clawperator_") for name, _ in listed] == [
            *("device", "model", "api"),
            *files,
        ]
        assert all(f"/attempt-{attempt}/" in path for _, path in listed[3:])


def test_a_folder_that_cannot_be_written_fails_no_test(pytester: pytest.Pytester, run: Run) -> None:
    """The test's own failure is shown as it is, and beside it why there is no evidence."""
    result = run(
        "--claw-output=taken",
        suite="""
        import shutil
        from pathlib import Path

        def test_it(clawperator):
            shutil.rmtree("taken")
            Path("taken").write_text("a file now")
            assert 0
        """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * assert 0",
            "no screenshot: *taken/* cannot be written: *",
            "no trace: *taken/* cannot be written: *",
            "*no index of the run: *",
        ]
    )


def test_a_folder_that_was_deleted(pytester: pytest.Pytester, run: Run) -> None:
    """Evidence goes to a new folder, and the summary lists only what exists."""
    result = run(
        *("--claw-trace=off", "--claw-snapshot=off", "--claw-logcat=off"),
        suite="""
        import shutil

        def test_first(clawperator):
            assert 0

        def test_second(clawperator, clawperator_artifacts):
            clawperator_artifacts.attach("x.txt", b"1")
            shutil.rmtree("claw-results")
            assert 0
        """,
    )

    result.assert_outcomes(failed=2)
    assert {test: names(path) for test, path in kept(pytester).items()} == {
        "test_second": ["screenshot.png"]
    }
    listed = result.stdout.str().split("= evidence =")[1].split("short test summary")[0]
    assert ("-test_second-" in listed, "test_first" in listed) == (True, False)


def test_a_device_that_is_gone(pytester: pytest.Pytester, run: Run, phone: AdbTransport) -> None:
    """What the device no longer gives is named, and the failure stays the test's."""
    result = run(
        suite="""
        import pytest
        from pytest_clawperator import DeviceError

        def test_it(clawperator):
            clawperator.device.shell("sim fault offline ms=700")
            with pytest.raises(DeviceError):
                while True:
                    clawperator.runner.transport.server.state(clawperator.serial)
            assert 0
        """
    )
    await_return(phone)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E * assert 0", "no screenshot: DEVICE_OFFLINE: *", "no snapshot: DEVICE_OFFLINE: *"]
    )


def test_a_broken_device_is_not_asked_again(pytester: pytest.Pytester, run: Run) -> None:
    """A teardown that fails after it adds the log at most."""
    run(
        suite="""
        import pytest

        @pytest.fixture
        def bad_end(clawperator):
            yield
            assert 0

        def test_it(clawperator, bad_end):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    ).assert_outcomes(errors=2)

    found = names(kept(pytester)["test_it"])
    assert "screenshot.png" in found
    assert {name for name in found if name.startswith("teardown-")} <= {"teardown-log.txt"}


def test_ctrl_c_puts_changes_back_and_ends_the_phones(pytester: pytest.Pytester) -> None:
    """Ctrl-C in a terminal ends the test, puts its changes back, and then ends the phones."""
    pytester.makepyfile(
        """
        import time
        from pathlib import Path

        def test_it(clawperator, clawperator_lease):
            clawperator.device.orientation = "landscape"
            Path("writing").write_text(clawperator_lease.adb)
            Path("writing").rename("started")
            time.sleep(600)
        """
    )
    # A run in the background ignores Ctrl-C unless it asks for it.
    pytester.makeconftest("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--claw-device", "sim"]
    started = pytester.path / "started"

    # As a terminal does, the signal goes to all processes of the group.
    run = subprocess.Popen(
        command, cwd=pytester.path, start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not started.exists():
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGINT)
    output = run.communicate(timeout=60)[0]

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    assert "could not restore" not in output
    host, port = started.read_text(encoding="utf-8").split(":")
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0


def test_the_debugger_finds_the_evidence_already_there(pytester: pytest.Pytester, run: Run) -> None:
    """Evidence is collected before ``--pdb`` asks."""
    pytester.makepyfile(
        quick_pdb="""
        import pdb
        from pathlib import Path

        class Quick(pdb.Pdb):
            def interaction(self, *_):
                found = Path().glob("claw-results/*/test_it-*/*")
                print("found", sorted(path.name for path in found))
        """
    )
    pytester.syspathinsert()

    result = run(
        *("--pdb", "--pdbcls=quick_pdb:Quick", *QUICK[1:]),
        suite="def test_it(clawperator): assert 0",
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["found [[]'snapshot.xml'[]]"])
