"""``clawperator_settings``: what a conftest changes counts for the tests below it."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

CHANGED = """
import dataclasses
import pytest

@pytest.fixture(scope="session")
def clawperator_settings(clawperator_settings):
    return dataclasses.replace(clawperator_settings, {changes})
"""
ELSEWHERE = "output=clawperator_settings.output.parent / 'mine', snapshot='off', logcat='off'"


def kept(pytester: pytest.Pytester, output: str) -> list[str]:
    """Give the evidence in a folder, each file after its test."""
    paths = (pytester.path / output).glob("*/*/*")
    return sorted(f"{path.parent.name.split('-')[1]}/{path.name}" for path in paths)


def test_evidence(pytester: pytest.Pytester, run: Run) -> None:
    """What is kept and where is up to the test's settings, in each of its phases."""
    pytester.makeconftest(CHANGED.format(changes=ELSEWHERE))
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def bad_start(clawperator_client):
            assert 0

        @pytest.fixture
        def bad_end(clawperator):
            yield
            assert 0

        def test_setup(bad_start): pass
        def test_call(clawperator): assert 0
        def test_teardown(bad_end): pass
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1, errors=2)
    assert kept(pytester, "mine") == [
        "test_call/screenshot.png",
        "test_setup/setup-screenshot.png",
        "test_teardown/teardown-screenshot.png",
    ]
    assert not (pytester.path / "claw-results").exists()


def test_a_folder_of_tests(pytester: pytest.Pytester, run: Run) -> None:
    """A folder's settings are those of its tests only, whichever come first."""
    changes = f"{ELSEWHERE}, screenshot='on', timeout=12.0"
    body = "def test_{0}(clawperator): assert clawperator.timeout == {1}"
    for folder, timeout in {"a": 5, "b": 12, "c": 5}.items():
        pytester.mkdir(folder)
        path = pytester.path / folder / f"test_{folder}.py"
        path.write_text(body.format(folder, timeout), encoding="utf-8")
    conftest = pytester.path / "b" / "conftest.py"
    conftest.write_text(CHANGED.format(changes=changes), encoding="utf-8")

    results = [run(*order) for order in (("a", "b", "c"), ("b", "c"))]

    for result, passed in zip(results, (3, 2), strict=True):
        result.assert_outcomes(passed=passed)
    assert kept(pytester, "mine") == ["test_b/screenshot.png"] * 2
    assert kept(pytester, "claw-results") == []


def test_a_timeout_of_the_client(pytester: pytest.Pytester, run: Run) -> None:
    """What a fixture of the suite makes the client's timeout stays so."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def patient(clawperator_client):
            clawperator_client.timeout = 30

        def test_it(clawperator):
            assert clawperator.timeout == 30
        """
    )

    result = run()

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(("given", "own", "videos"), [("off", "on", 2), ("on", "off", 0)])
def test_video(pytester: pytest.Pytester, run: Run, given: str, own: str, videos: int) -> None:
    """A folder's settings switch the video of its tests, though the client is there already."""
    pytester.makeconftest(
        """
        import pytest
        from pytest_clawperator.plugin import recorder

        class Video:
            def __init__(self, transport, *, on_problem): pass
            def stop(self): return [b"mp4"]
            def drop(self): pass

        @pytest.fixture(scope="session", autouse=True)
        def recorded():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(recorder, "Video", Video)
                yield
        """
    )
    pytester.makepyfile("def test_first(clawperator): pass")
    pytester.mkdir("z")
    conftest = pytester.path / "z" / "conftest.py"
    conftest.write_text(CHANGED.format(changes=f"video={own!r}"), encoding="utf-8")
    tests = "def test_second(clawperator): pass\ndef test_third(clawperator): pass\n"
    (pytester.path / "z" / "test_z.py").write_text(tests, encoding="utf-8")

    result = run("--claw-video", given, "test_video.py", "z")

    result.assert_outcomes(passed=3)
    of_folder = [one for one in kept(pytester, "claw-results") if "test_first" not in one]
    assert of_folder == ["test_second/video.mp4", "test_third/video.mp4"][:videos]


def test_pause(pytester: pytest.Pytester, run: Run) -> None:
    """A test whose settings say so is paused, also where its teardown is the last of the run."""
    pytester.makeconftest(CHANGED.format(changes=f"{ELSEWHERE}, pause=True"))
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def bad_end(clawperator):
            yield
            assert 0

        def test_call(clawperator): assert 0
        def test_teardown(bad_end): pass
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1, errors=1)
    said = "clawperator: *test_pause.py::test_{} *: not paused, because there is no terminal *"
    result.stdout.fnmatch_lines([said.format("call"), said.format("teardown")])


def test_artifacts(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Files of a test without a device go where its settings say."""
    pytester.makeconftest(CHANGED.format(changes=ELSEWHERE))
    pytester.makepyfile(
        "def test_it(clawperator_artifacts): clawperator_artifacts.attach('a', b'')"
    )

    result = run_plain()

    result.assert_outcomes(passed=1)
    assert [one.partition(".")[0] for one in kept(pytester, "mine")] == ["test_it/a"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("screenshot='maybe'", "screenshot: found 'maybe', allowed is off, on or only-on-failure"),
        ("video=True", "video: found True, allowed is off, on or only-on-failure"),
        ("timeout=-4", "timeout: found -4, allowed is a number of seconds from 0 on, as in 2.5"),
        ("timeout='3'", "timeout: found '3', allowed is a number of seconds from 0 on, as in 2.5"),
        ("strict='no'", "strict: found 'no', allowed is True or False"),
        ("output='mine'", "output: found 'mine', allowed is a pathlib.Path of a folder"),
        ("operator_apk='x.apk'", "operator_apk: found 'x.apk', allowed is a pathlib.Path *"),
    ],
)
def test_nonsense(pytester: pytest.Pytester, run: Run, changes: str, said: str) -> None:
    """A setting that makes no sense is refused at the line that changes it, as an option is."""
    pytester.makeconftest(CHANGED.format(changes=changes))
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            f"> *return dataclasses.replace(clawperator_settings, {changes})",
            f"E *CONFIGURATION_INVALID: the setting {said}",
        ]
    )


def test_a_client_that_cannot_be(pytester: pytest.Pytester, run: Run) -> None:
    """A client that cannot be connected leaves the transport to the tests that use only that."""
    pytester.makeconftest(
        CHANGED.format(changes="operator_apk=clawperator_settings.output / 'none'")
    )
    pytester.makepyfile(
        """
        def test_client(clawperator): pass

        def test_transport(clawperator_transport):
            assert clawperator_transport.shell("echo hi").stdout.strip() == "hi"
        """
    )

    result = run()

    result.assert_outcomes(errors=1, passed=1)
