"""Build the wheel and the sdist, install each in an empty environment, and use it there.

``make dist`` runs this module. It needs the package registry, so it is not part of the test run.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

TOP = Path(__file__).parent.parent
DIST = TOP / "dist"
PACKAGE = "pytest_clawperator"

_TEST = """
def test_settings(clawperator):
    clawperator.open_app("com.android.settings")
    clawperator.click(text="Connections")
    assert clawperator.node(text="Wi-Fi").exists()


def test_that_fails(clawperator):
    clawperator.click(text="No such entry", timeout=0.1)
"""


def main() -> None:
    """Build and check both distributions; end with the first problem."""
    for old in (*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")):
        old.unlink()
    _run(sys.executable, "-m", "build", "--outdir", str(DIST), str(TOP), cwd=TOP)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    data = sorted(_data_files())
    with zipfile.ZipFile(wheel) as archive:
        _check_contents(wheel, archive.namelist(), data)
    root = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as tar:
        names = [name.removeprefix(f"{root}/") for name in tar.getnames()]
    _check_contents(sdist, names, [*data, "README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md"])
    for built in (wheel, sdist):
        with TemporaryDirectory(prefix="claw-dist-") as folder:
            _check_install(built, Path(folder))
        print(f"{built.relative_to(TOP)}: complete, installs, and tests run with it")


def _data_files() -> list[str]:
    """List the files of the package that are not Python: pages, app files, stubs, marks."""
    found = subprocess.run(
        ["git", "ls-files", PACKAGE], cwd=TOP, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    data = [name for name in found if name and not name.endswith(".py")]
    assert data, "there are no files of the package; is this a git checkout?"
    return data


def _check_contents(built: Path, names: list[str], wanted: list[str]) -> None:
    """Fail if a distribution lacks a file that the package reads."""
    missing = sorted(set(wanted) - set(names))
    if missing:
        sys.exit(f"{built.name} lacks {', '.join(missing)}")


def _check_install(built: Path, folder: Path) -> None:
    """Install a distribution in an empty environment, and run two tests on a simulated phone."""
    _run(sys.executable, "-m", "venv", str(folder / "venv"), cwd=folder)
    python = str(folder / "venv" / "bin" / "python")
    _run(python, "-m", "pip", "install", "--quiet", f"{built}[cli]", cwd=folder)
    _run(python, "-m", "pip", "check", cwd=folder)
    (folder / "test_phone.py").write_text(_TEST, encoding="utf-8")
    ran = subprocess.run(
        [python, "-m", "pytest", "-q", "--claw-device=sim", "test_phone.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    pages = [path.name for path in (folder / "claw-results").rglob("*.html")]
    if "1 failed, 1 passed" not in ran.stdout or sorted(pages) != ["index.html", "trace.html"]:
        sys.exit(f"tests do not run with {built.name} (pages: {pages}):\n{ran.stdout}{ran.stderr}")
    _run(str(folder / "venv" / "bin" / "clawperator-py"), "--help", cwd=folder)


def _run(*command: str, cwd: Path) -> None:
    """Run a command; end with its output if it fails."""
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
