"""``--claw-sim-app``: an app for the simulated phones."""

from __future__ import annotations

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.simulator.apps.load  # noqa: F401
from tests.plugin.conftest import Run

APP = """\
package: com.example.hello
name: Hello
start: home
screens:
  home:
    title: Hello
    items:
      - {text: Good morning, id: greeting}
"""
SUITE = """
def test_app(clawperator):
    clawperator.open_app("com.example.hello")
    assert clawperator.read_text(id="com.example.hello:id/greeting") == "Good morning"
"""


@pytest.mark.parametrize(
    ("options", "ini"),
    [(["--claw-sim-app", "apps/hello.yaml"], ""), ([], "claw_sim_app = apps/hello.yaml")],
)
def test_simulated_phones_have_the_app(
    pytester: pytest.Pytester, run_plain: Run, options: list[str], ini: str
) -> None:
    """Simulated phones have the app, whether the option or the ini twin names its file."""
    pytester.makepyfile(SUITE)
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.mkdir("apps").joinpath("hello.yaml").write_text(APP, encoding="utf-8")

    result = run_plain("--claw-device", "sim", *options)

    result.assert_outcomes(passed=1)


ASKS_TOO_MUCH = (
    APP
    + """\
      - {button: Count, id: count, on_tap: {set: {total: "{typed}"}}}
state: {typed: ten, total: 0}
"""
)


def test_what_an_app_file_cannot_do_is_in_the_evidence(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """What shows only while the app runs is in the log of the failed test, with the file's line."""
    pytester.makepyfile(
        """
        def test_count(clawperator):
            clawperator.open_app("com.example.hello")
            clawperator.click(id="com.example.hello:id/count")
            assert False
        """
    )
    pytester.path.joinpath("hello.yaml").write_text(ASKS_TOO_MUCH, encoding="utf-8")

    result = run_plain("--claw-device", "sim", "--claw-sim-app=hello.yaml")

    result.assert_outcomes(failed=1)
    (log,) = pytester.path.rglob("log.txt")
    told = [line for line in log.read_text(encoding="utf-8").splitlines() if "AppFile" in line]
    assert len(told) == 1, told
    assert "hello.yaml:9:45: `set` does nothing: a whole number is wanted" in told[0]
