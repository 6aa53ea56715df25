"""The files for continuous integration: valid, ours and those that users copy."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from pytest_clawperator.plugin.settings import settings_of

FOLDER = Path(__file__).parent.parent / "docs" / "ci"
OWN_WORKFLOWS = sorted((FOLDER.parent.parent / ".github" / "workflows").glob("*.yml"))
GITHUB, GITLAB = FOLDER / "github-actions.yml", FOLDER / "gitlab-ci.yml"

# What only the CI knows.
SECRETS = {"LEASES": "redis://:secret@rack-redis:6379/0"}
SECRETS["CLAW_LEASES"] = SECRETS["LEASES"]


class Job(NamedTuple):
    """A job: its name, the command that tests, and the files that are kept afterwards."""

    name: str
    command: list[str]
    kept: list[str]

    def __str__(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.name)


def judge(schema: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Compare files with the schema that a service publishes."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    return subprocess.run([*command, *paths], capture_output=True, text=True, check=False)


def extended(text: str) -> dict[str, Any]:
    """Return a pipeline with its templates applied, which the schema does not do."""
    jobs = yaml.safe_load(text)
    full = {
        name: {**jobs[job.pop("extends")], **job} if "extends" in job else job
        for name, job in jobs.items()
    }
    return {name: job for name, job in full.items() if not name.startswith(".")}


def github_jobs() -> Iterator[Job]:
    """Yield the jobs of the workflow."""
    for name, job in yaml.safe_load(GITHUB.read_text("utf-8"))["jobs"].items():
        steps = job["steps"]
        scripts = [step.get("run", "") for step in steps]
        (kept,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
        yield Job(f"github {name}", arguments_of(scripts), kept.split())


def gitlab_jobs() -> Iterator[Job]:
    """Yield the jobs of the pipeline."""
    for name, job in extended(GITLAB.read_text("utf-8")).items():
        if "script" not in job:
            continue
        kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
        yield Job(f"gitlab {name}", arguments_of(job["script"]), kept)


def arguments_of(scripts: list[str]) -> list[str]:
    """Return the arguments of the one call of pytest, with values for what only the CI knows."""
    (line,) = re.findall(r"^pytest (.+)$", "\n".join(scripts), re.MULTILINE)
    for name, value in SECRETS.items():
        line = line.replace(f"${name}", value)
    assert "$" not in line, line
    return shlex.split(line)


def write_apk() -> None:
    """Write the file that the jobs download, as far as the options look at it."""
    with zipfile.ZipFile("operator.apk", "w") as apk:
        apk.writestr("AndroidManifest.xml", b"")


JOBS = [*github_jobs(), *gitlab_jobs()]


def test_the_files_follow_their_schemas(tmp_path: Path) -> None:
    """Those that users copy and the project's own; mistakes are found."""
    workflow, pipeline = tmp_path / "workflow.yml", tmp_path / "pipeline.json"
    pipeline.write_text(json.dumps(extended(GITLAB.read_text("utf-8"))), "utf-8")
    for schema, paths in (
        ("vendor.github-workflows", [GITHUB, *OWN_WORKFLOWS]),
        ("vendor.gitlab-ci", [GITLAB, pipeline]),
    ):
        judged = judge(schema, *paths)
        assert judged.returncode == 0, judged.stdout + judged.stderr

    workflow.write_text(GITHUB.read_text("utf-8").replace("runs-on:", "runs_on:"), "utf-8")
    wrong = GITLAB.read_text("utf-8").replace("junit:", "jnuit:")
    pipeline.write_text(json.dumps(extended(wrong)), "utf-8")
    for schema, path, slip in (
        ("vendor.github-workflows", workflow, "runs_on"),
        ("vendor.gitlab-ci", pipeline, "jnuit"),
    ):
        judged = judge(schema, path)
        assert (judged.returncode, slip in judged.stdout) == (1, True)


def test_own_workflow_runs_the_commands_of_the_readme() -> None:
    """The project tests itself as a stranger would, with every Python that it supports."""
    workflow = (FOLDER.parent.parent / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    job = yaml.safe_load(workflow)["jobs"]["tests"]
    project = (FOLDER.parent.parent / "pyproject.toml").read_text("utf-8")

    commands = [step["run"] for step in job["steps"] if "run" in step]
    supported = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)

    assert commands == ["make demo", "make test"]
    assert job["strategy"]["matrix"]["python"] == supported


def test_both_files_have_the_same_jobs() -> None:
    """Both files test on simulated phones, on emulators and on a rack, with the same commands."""
    github, gitlab = JOBS[:3], JOBS[3:]

    assert [job.name for job in github] == ["github simulated", "github emulators", "github rack"]
    assert [job.name for job in gitlab] == ["gitlab simulated", "gitlab emulators", "gitlab rack"]
    assert [job.command for job in github] == [job.command for job in gitlab]


def test_each_class_gets_an_emulator(pytester: pytest.Pytester) -> None:
    """The run makes emulators for four classes, and installs the Operator on them."""
    write_apk()
    (job,) = [job for job in JOBS if job.name == "github emulators"]

    settings = settings_of(pytester.parseconfig(*job.command))

    assert [one.kind for one in settings.device] == ["emulator"]
    assert settings.matrix is not None
    labels = [one.label for one in settings.matrix.wanted or ()]
    assert labels == ["api33-phone", "api33-tablet", "api35-phone", "api35-tablet"]
    assert settings.emulator is not None
    assert settings.emulator.image == "google_apis"
    assert settings.operator_apk is not None


@pytest.mark.parametrize("path", [GITHUB, GITLAB], ids=lambda path: path.stem)
def test_what_emulators_need_is_installed(path: Path) -> None:
    """Each file sees to KVM, to the licences and to the emulator, before the run needs them."""
    text = path.read_text("utf-8")

    assert "/dev/kvm" in text or 'KERNEL=="kvm"' in text
    assert text.index("sdkmanager --licenses") < text.index("sdkmanager emulator platform-tools")
    assert text.index("sdkmanager emulator platform-tools") < text.index("--claw-device emulator")


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_options_are_accepted_and_evidence_is_kept(
    job: Job, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every option exists and accepts its value; the report and the results are uploaded."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    write_apk()

    config = pytester.parseconfig(*job.command)
    settings = settings_of(config)

    assert config.args == [str(pytester.path)], "something was taken for the path of a test"
    assert settings.device or settings.matrix
    assert config.getoption("xmlpath") == "report.xml"
    assert sorted(job.kept) == ["claw-results/", "report.xml"]
