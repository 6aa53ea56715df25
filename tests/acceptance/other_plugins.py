"""Runs of a small suite beside other plugins, in this environment or in a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

TOP = Path(__file__).parents[2]
DEADLINE = 300.0
#: Where make installs plugins that no other test should load.
BESIDE = Path(sys.prefix) / "others"

CONFTEST = """
from pytest_clawperator.plugin.phones import SimulatorScenario


def pytest_clawperator_simulator_scenario():
    return SimulatorScenario(seed=6, time_scale=0.05)
"""

SUITE = """
import pytest

attempts = []


@pytest.fixture
def bad_start(clawperator):
    raise ValueError("bad start")


@pytest.fixture
def bad_end(clawperator):
    yield
    raise ValueError("bad end")


def test_passes(clawperator):
    clawperator.home()


def test_fails(clawperator):
    clawperator.wait_for_node(text="Nowhere", timeout=0)


@pytest.mark.claw_device(api=">=99")
def test_skipped(clawperator):
    pass


@pytest.mark.parametrize("word", ["one", "two"])
def test_parametrised(clawperator, word):
    assert word == "one"


def test_bad_start(bad_start):
    pass


def test_bad_end(bad_end):
    pass


@pytest.mark.xfail(reason="known", strict=True)
def test_expected(clawperator):
    raise AssertionError


def test_flaky(clawperator):
    attempts.append(1)
    assert len(attempts) == 2
"""

ASYNC_SUITE = """
import asyncio

import pytest
import pytest_asyncio


@pytest_asyncio.fixture
async def phone(clawperator):
    await asyncio.sleep(0)
    yield clawperator


@pytest.mark.asyncio
async def test_async_passes(phone):
    await asyncio.sleep(0)
    phone.home()


@pytest.mark.asyncio
async def test_async_fails(phone):
    await asyncio.sleep(0)
    phone.wait_for_node(text="Nowhere", timeout=0)
"""


@dataclass(frozen=True)
class Plugin:
    """Another plugin: its name for pip, the modules to load, and its options."""

    distribution: str
    modules: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether it is installed in this environment, or in the folder beside it."""
        names = [module.partition(".")[0] for module in self.modules]
        return all(PathFinder.find_spec(name, [*sys.path, str(BESIDE)]) for name in names)


XDIST = Plugin("pytest-xdist", ("xdist",))
ALLURE = Plugin("allure-pytest", ("allure_pytest.plugin",), ("--alluredir=allure",))
HTML = Plugin(
    "pytest-html", ("pytest_metadata.plugin", "pytest_html.plugin"), ("--html=report.html",)
)
RERUNS = Plugin("pytest-rerunfailures", ("pytest_rerunfailures",), ("--reruns=1",))
ASYNCIO = Plugin("pytest-asyncio", ("pytest_asyncio.plugin",))
# Its options sound like ours.
PLAYWRIGHT = Plugin(
    "pytest-playwright",
    ("pytest_playwright.pytest_playwright",),
    ("--screenshot=on", "--video=on", "--tracing=on", "--output=browser-results"),
)
PLUGINS = (XDIST, ALLURE, HTML, RERUNS, ASYNCIO, PLAYWRIGHT)


@dataclass(frozen=True)
class Way:
    """A way to run the suite; ``is_chosen`` loads these plugins only, whatever is installed."""

    name: str
    plugins: tuple[Plugin, ...] = ()
    options: tuple[str, ...] = ()
    is_chosen: bool = True

    def __str__(self) -> str:
        return self.name

    def arguments(self) -> list[str]:
        """Return the arguments of pytest."""
        chosen = ["pytest_clawperator.plugin"]
        chosen += [module for plugin in self.plugins for module in plugin.modules]
        return [
            *[f"-p{module}" for module in chosen if self.is_chosen],
            *[option for plugin in self.plugins for option in plugin.options],
            *self.options,
        ]

    def ini(self) -> str:
        """Return the suite's configuration, as strict as possible."""
        lines = ["[pytest]", "claw_device = sim", "filterwarnings = error"]
        lines += ["addopts = --strict-markers --strict-config -p no:cacheprovider"]
        if ASYNCIO in self.plugins:
            lines += ["asyncio_default_fixture_loop_scope = function"]
        return "\n".join(lines)


ALONE = Way("alone")
TOGETHER = Way("together", PLUGINS, is_chosen=False)
WORKERS = Way("workers", PLUGINS, ("-n2",), is_chosen=False)
WAYS = (
    ALONE,
    Way("no terminal", options=("-pno:terminal",)),
    *(Way(plugin.distribution, (plugin,)) for plugin in PLUGINS),
    Way("pytest-xdist -n 2", (XDIST,), ("-n2",)),
    TOGETHER,
    WORKERS,
)


@dataclass(frozen=True)
class Ran:
    """The output and exit code of a run, and the folder that it ran in."""

    way: Way
    folder: Path
    code: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return f"{self.way}, exit code {self.code}\n{self.stdout}\n{self.stderr}"

    def kept(self) -> dict[str, bytes]:
        """Return the files of evidence, by the paths that reports should name."""
        found = self.folder.glob("claw-results/**/*")
        # A trace is a folder, whose page reports name; the index is of the whole run.
        paths = [path for path in found if path.is_file() and "trace" not in path.parts]
        paths = [path for path in paths if path.parent.parent.name != "claw-results"]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def kept_last(self) -> set[str]:
        """Return the paths of evidence of the last attempt at each test, but for its trace."""
        kept = [path for path in self.kept() if not path.endswith("trace.html")]
        return {path for path in kept if "/attempt-1/" not in path}


def run(way: Way, folder: Path, python: str = sys.executable) -> Ran:
    """Write the suite to a new folder and run it there, in another process."""
    folder.mkdir()
    suite = {"conftest.py": CONFTEST, "test_suite.py": SUITE, "pytest.ini": way.ini()}
    if ASYNCIO in way.plugins:
        suite["test_async.py"] = ASYNC_SUITE
    for name, text in suite.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [python, "-m", "pytest", *way.arguments(), "--junitxml=junit.xml"],
        cwd=folder,
        env=_environment(way, python),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    return Ran(way, folder, done.returncode, done.stdout, done.stderr)


def _environment(way: Way, python: str) -> dict[str, str]:
    foreign = ("PYTEST_", "PYTHON", "ANDROID_", "CI")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    if way.is_chosen:
        kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if python == sys.executable:
        kept["PYTHONPATH"] = str(BESIDE)
    return {**kept, "COLUMNS": "200"}


def build_wheel(folder: Path) -> Path:
    """Build the package of this checkout as it would be published."""
    _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(TOP))
    (wheel,) = folder.glob("pytest_clawperator-*.whl")
    return wheel


def make_environment(folder: Path) -> str:
    """Make an environment in which nothing is installed; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


def install(python: str, requirements: Sequence[str]) -> None:
    """Install packages into the environment of that Python."""
    _pip("--python", python, "install", *requirements)


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"pip {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
