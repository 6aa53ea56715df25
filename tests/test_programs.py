"""The programs that the tests use are installed where possible, and CI hides no missing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import (
    CHROMIUM,
    PROGRAMS,
    REDIS,
    Run,
    Which,
    install_missing,
    is_failure,
    missing,
)

TOP = Path(__file__).parent.parent


class Machine:
    """A machine with some programs, on which others can be installed."""

    def __init__(
        self, *programs: str, sudo_status: int = 0, installs: bool = True, lacks: str = ""
    ) -> None:
        self.programs = set(programs)
        self.commands: list[list[str]] = []
        self._sudo_status = sudo_status
        self._installs = installs
        self._lacks = lacks

    def which(self, name: str) -> str | None:
        """Return the path of a program."""
        return f"/bin/{name}" if name in self.programs else None

    def run(self, command: list[str]) -> int:
        """Take note of a command, and do what it says."""
        if command == ["sudo", "-n", "true"]:
            return self._sudo_status
        self.commands.append(command)
        package = command[-1]
        if not self._installs or package == self._lacks:
            return 100
        if "install" in command:
            self.programs |= {one.name for one in PROGRAMS if package in (one.apt, one.brew)}
        return 0


def install(machine: Machine, *, is_root: bool = False) -> list[str]:
    """Install what the tests need on a machine."""
    which: Which = machine.which
    run: Run = machine.run
    return install_missing(which=which, run=run, is_root=is_root)


@pytest.mark.parametrize(
    ("machine", "is_root", "first_words"),
    [
        (Machine("apt-get", *(program.name for program in PROGRAMS)), True, set()),
        (Machine("apt-get"), True, {"env"}),
        (Machine("apt-get", "sudo"), False, {"sudo"}),
        (Machine("brew"), False, {"brew"}),
    ],
    ids=["installed", "root", "sudo", "brew"],
)
def test_a_missing_program_is_installed_without_a_question(
    machine: Machine, is_root: bool, first_words: set[str]
) -> None:
    """By root, by a sudo that asks for no password, and by Homebrew; others are left alone."""
    assert install(machine, is_root=is_root) == []

    assert {command[0] for command in machine.commands} == first_words


@pytest.mark.parametrize(
    "machine",
    [
        Machine(),
        Machine("apt-get"),
        Machine("apt-get", "sudo", sudo_status=1),
        Machine("brew", installs=False),
    ],
    ids=["no installer", "not root", "sudo asks", "installer fails"],
)
def test_what_cannot_be_installed_is_named_with_the_command_to_type(machine: Machine) -> None:
    """On a machine where nothing can be installed."""
    assert install(machine) == [missing(program, machine.which) for program in PROGRAMS]
    typed = "sudo apt-get install redis-server, or brew install redis"
    assert typed in str(missing(REDIS, machine.which))


def test_one_missing_package_does_not_stop_the_others() -> None:
    """Browsers of the same family have several names."""
    machine = Machine("apt-get", lacks=REDIS.apt)

    assert install(machine, is_root=True) == [missing(REDIS, machine.which)]
    assert machine.which(CHROMIUM.name)
    assert missing(CHROMIUM, Machine("google-chrome").which) is None
    assert missing(CHROMIUM, Machine("firefox").which) is not None


@pytest.mark.parametrize(
    ("reason", "environ", "fails"),
    [
        ("redis-server is not installed", {}, False),
        ("redis-server is not installed", {"CI": "true"}, True),
        ("by design: make soak runs it", {"CI": "true"}, False),
    ],
)
def test_only_a_missing_part_fails_in_ci(reason: str, environ: dict[str, str], fails: bool) -> None:
    """A skip is a failure where CI=true, unless its reason says that it is by design."""
    assert is_failure(reason, environ) is fails


@pytest.mark.parametrize(
    ("ci", "outcomes"),
    [("true", {"failed": 1, "skipped": 1, "errors": 1}), ("", {"skipped": 3})],
)
def test_a_skipped_test_or_module_fails_the_run_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcomes: dict[str, int]
) -> None:
    """The conftest of these tests turns skips for missing parts into failures in CI."""
    monkeypatch.setenv("CI", ci)
    pytester.makeconftest((TOP / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(
        test_module="import pytest\npytest.importorskip('no_such_module')",
        test_parts="""
            import pytest

            def test_missing(): pytest.skip("redis-server is not installed")
            def test_by_design(): pytest.skip("by design: not on this system")
        """,
    )

    result = pytester.runpytest_inprocess("--continue-on-collection-errors")

    result.assert_outcomes(**outcomes)
