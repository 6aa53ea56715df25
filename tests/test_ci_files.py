"""The files for continuous integration that users copy: valid, and written for this plugin."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from pytest_clawperator.plugin.input.option_values import settings_of

FOLDER = Path(__file__).parent.parent / "docs" / "ci"
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
    """Hold files against the schema that a service publishes."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    return subprocess.run([*command, *paths], capture_output=True, text=True, check=False)


def extended(text: str) -> dict[str, Any]:
    """Give a pipeline without templates, which its schema does not look into."""
    jobs = yaml.safe_load(text)
    full = {
        name: {**jobs[job.pop("extends")], **job} if "extends" in job else job
        for name, job in jobs.items()
    }
    return {name: job for name, job in full.items() if not name.startswith(".")}


def github_jobs() -> Iterator[Job]:
    """Give the jobs of the workflow, one for each combination of its matrix."""
    for name, job in yaml.safe_load(GITHUB.read_text("utf-8"))["jobs"].items():
        steps = job["steps"]
        scripts = [step.get("run") or step.get("with", {}).get("script", "") for step in steps]
        (kept,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
        for values in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
            known = {f"{{{{ matrix.{key} }}}}": str(value) for key, value in values.items()}
            command = arguments_of(scripts, {**known, **SECRETS})
            yield Job(f"{name} {' '.join(known.values())}".strip(), command, kept.split())


def gitlab_jobs() -> Iterator[Job]:
    """Give the jobs of the pipeline, one for each combination of its matrix."""
    jobs = extended(GITLAB.read_text("utf-8"))
    for name, job in jobs.items():
        if "script" not in job:
            continue
        kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
        for values in combinations(job.get("parallel", {}).get("matrix", [{}])):
            command = arguments_of(job["script"], {**values, **SECRETS})
            yield Job(f"{name} {' '.join(values.values())}".strip(), command, kept)


def combinations(matrix: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Give what the variables of a pipeline's matrix are in each of its jobs."""
    for part in matrix:
        lists = [value if isinstance(value, list) else [value] for value in part.values()]
        for values in product(*lists):
            yield dict(zip(part, values, strict=True))


def arguments_of(scripts: list[str], known: dict[str, str]) -> list[str]:
    """Give the arguments of the one call of pytest, with what is known for variables."""
    (line,) = re.findall(r"^pytest (.+)$", "\n".join(scripts), re.MULTILINE)
    for name, value in known.items():
        line = line.replace(f"${name}", value)
    assert "$" not in line, line
    return shlex.split(line)


JOBS = [*github_jobs(), *gitlab_jobs()]


def test_workflow_follows_its_schema() -> None:
    """GitHub takes its file."""
    judged = judge("vendor.github-workflows", GITHUB)

    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_pipeline_follows_its_schema(tmp_path: Path) -> None:
    """GitLab takes its file, and what the jobs have from their template."""
    full = tmp_path / "full.json"
    full.write_text(json.dumps(extended(GITLAB.read_text("utf-8"))), "utf-8")

    judged = judge("vendor.gitlab-ci", GITLAB, full)

    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_mistakes_are_found(tmp_path: Path) -> None:
    """The schemas are worth something: they refuse what the services would refuse."""
    workflow, pipeline = tmp_path / "workflow.yml", tmp_path / "pipeline.json"
    workflow.write_text(GITHUB.read_text("utf-8").replace("runs-on:", "runs_on:"), "utf-8")
    wrong = GITLAB.read_text("utf-8").replace("junit:", "jnuit:")
    pipeline.write_text(json.dumps(extended(wrong)), "utf-8")

    judged = [judge("vendor.github-workflows", workflow), judge("vendor.gitlab-ci", pipeline)]

    assert [one.returncode for one in judged] == [1, 1]
    assert "runs_on" in judged[0].stdout
    assert "jnuit" in judged[1].stdout


def test_both_files_have_the_same_five_jobs() -> None:
    """Both files test on simulated phones, on three kinds of emulators and on a rack."""
    names = [job.name.split()[0] for job in JOBS]

    assert names == ["simulated", "emulators", "emulators", "emulators", "rack"] * 2


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_options_are_taken(
    job: Job, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is every option that a job gives to pytest, and it can have that value."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    with zipfile.ZipFile("operator.apk", "w") as apk:
        apk.writestr("AndroidManifest.xml", b"")

    config = pytester.parseconfig(*job.command)
    settings = settings_of(config)

    assert config.args == [str(pytester.path)], "something was taken for the path of a test"
    assert settings.device or settings.matrix
    assert config.getoption("xmlpath") == "report.xml"


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_evidence_is_kept(job: Job) -> None:
    """Each job keeps the report that it writes, and what is found out about failures."""
    (report,) = [word.split("=")[1] for word in job.command if word.startswith("--junitxml=")]

    assert sorted(job.kept) == ["claw-results/", report]
