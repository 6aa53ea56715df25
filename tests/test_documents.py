"""What the documents say is true: their code runs, and their tables miss and invent nothing."""

from __future__ import annotations

import dataclasses
import importlib.util
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.plugin import hookspecs
from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.faults import FAULTS
from pytest_clawperator.test_files.file import read_test_file
from pytest_clawperator.test_files.steps import MAESTRO
from tests import yaml_reference
from tests.app_file_reference import with_tables
from tests.doubles.pytest_process import TOP, run_pytest
from tests.doubles.simulated_sdk.scenario import Scenario
from tests.doubles.simulated_sdk.sdk import SimulatedSdk
from tests.doubles.simulator.sdk_bench import QUICK

# As a module of which nothing is known: type checkers do not see what is made at run time.
ROOT = import_module("pytest_clawperator")
DOCS = TOP / "docs"
# Where the paths in documents start.
PLACES = (TOP, TOP / "pytest_clawperator")
DOCUMENTS = sorted([TOP / "README.md", *DOCS.glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A block that begins so is part of a file of tests, which pytest runs.
FILE = re.compile(r"# ((?:test_\w+|conftest)\.py)\n")


def read(name: str) -> str:
    """Return the text of a document."""
    return (DOCS / name).read_text(encoding="utf-8")


def files_of(document: Path) -> dict[str, str]:
    """Return the files of tests that a document shows, each put together from its blocks."""
    files: dict[str, str] = {}
    for block in BLOCK.finditer(document.read_text(encoding="utf-8")):
        if named := FILE.match(block[1]):
            files[named[1]] = files.get(named[1], "") + block[1] + "\n"
    return files


SUITES = [document for document in DOCUMENTS if files_of(document)]
# What a conftest changes, it changes for a whole run.
ALONE = [document for document in SUITES if "conftest.py" in files_of(document)]
# What needs options of its own.
MANY = DOCS / "parallel.md"
APP_FILES = DOCS / "app-files.md"
EMULATORS = DOCS / "emulators.md"
TOGETHER = [document for document in SUITES if document not in [*ALONE, MANY, APP_FILES]]


def run_suites(*documents: Path, folder: Path, more: str = "", options: Sequence[str] = ()) -> str:
    """Run the tests of documents on simulated phones, with more tests; return the output."""
    for document in documents:
        (folder / document.stem).mkdir()
        for name, text in {**files_of(document), "test_more.py": more}.items():
            (folder / document.stem / name).write_text(text, encoding="utf-8")
    usual = ["-q", "-s", "--strict-markers", "--import-mode=importlib", "--claw-device", "sim"]
    ran = run_pytest(*usual, *options, folder=folder)
    return ran.stdout + ran.stderr


def run_blocks(document: Path) -> None:
    """Run the Python blocks of a document in one namespace, in the order they are read."""
    text = document.read_text(encoding="utf-8")
    namespace: dict[str, object] = {}

    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        if FILE.match(block[1]):
            continue
        # Blank lines in front make tracebacks show the document's own line numbers.
        above = "\n" * text.count("\n", 0, block.start(1))
        exec(compile(above + block[1], str(document), "exec"), namespace)

    assert blocks or "```python" not in text


@pytest.mark.parametrize(
    "document", [one for one in DOCUMENTS if one != EMULATORS], ids=lambda path: path.stem
)
def test_the_code_in_documents_runs(document: Path) -> None:
    """Each document's Python blocks run."""
    run_blocks(document)


def test_the_code_about_emulators_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks about emulators run with the SDK that the environment names."""
    with SimulatedSdk(tmp_path, Scenario(emulator=QUICK)) as sdk:
        for name, value in sdk.variables.items():
            monkeypatch.setenv(name, value)

        run_blocks(EMULATORS)


def test_examples_import_from_public_places_only() -> None:
    """Users import from the package itself, its simulator, its emulators and its reports."""
    public = {"", ".simulator", ".emulators", ".report"}
    shown = re.compile(r"^ *(?:from|import) pytest_clawperator([.\w]*)", re.MULTILINE)
    examples = [*DOCUMENTS, *(TOP / "example_suite").rglob("*.py")]

    deeper = {
        path.name: found
        for path in examples
        if (found := set(shown.findall(path.read_text(encoding="utf-8"))) - public)
    }

    assert deeper == {}


@pytest.mark.parametrize(
    "documents",
    [TOGETHER, *([one] for one in ALONE if one.stem != "hooks")],
    ids=lambda documents: documents[0].stem,
)
def test_the_suites_in_documents_pass(documents: list[Path], tmp_path: Path) -> None:
    """The tests that documents show pass on simulated phones, as their readers would run them."""
    output = run_suites(*documents, folder=tmp_path)

    assert re.search(r"^\d+ passed in", output, re.MULTILINE), output


def test_hooks_do_what_the_page_says(tmp_path: Path) -> None:
    """The examples of hooks work together, those that a failure calls too."""
    more = "def test_failing(clawperator):\n    raise AssertionError\n"

    output = run_suites(DOCS / "hooks.md", folder=tmp_path, more=more)

    assert "1 failed, 2 passed in" in output, output
    assert re.search(r"^  battery\.txt$", output, re.MULTILINE), output
    assert "is free after failures" in output


def test_many_devices_do_what_the_page_says(tmp_path: Path) -> None:
    """The example with several devices runs beside other workers, with a spare device."""
    more = "def test_alone(clawperator):\n    assert clawperator.serial\n"

    output = run_suites(MANY, folder=tmp_path, more=more, options=["-n2", "--claw-spare-devices=1"])

    assert "2 passed in" in output, output


def test_the_app_of_two_screens_passes_its_tests(tmp_path: Path) -> None:
    """The worked examples of app files are installed, and their tests pass on them."""
    page = read("app-files.md")
    apps = re.findall(r"^```yaml\n(# (\w+\.yaml)\n.*?)^```$", page, re.S | re.M)
    for text, name in apps:
        (tmp_path / name).write_text(text, encoding="utf-8")

    options = [f"--claw-sim-app={name}" for _, name in apps]
    output = run_suites(APP_FILES, folder=tmp_path, options=options)

    assert len(apps) == 2
    assert "4 passed in" in output, output


TEST_FILES = DOCS / "test-files.md"
YAML = re.compile(r"^```yaml\n(?:# ([\w.]+\.claw\.yaml)\n)?(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_test_files_of_the_page_pass(tmp_path: Path) -> None:
    """The tests without Python that the page shows pass on a simulated phone."""
    for name, text in YAML.findall(TEST_FILES.read_text(encoding="utf-8")):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = shop\n", encoding="utf-8")

    output = run_suites(folder=tmp_path)

    assert "4 passed in" in output, output


def steps_of(page: str) -> list[str]:
    """Return the steps that the page shows, also those in its table for users of Maestro."""
    blocks = [text for name, text in YAML.findall(page) if text.startswith("- ")]
    lines = [f"- {step}\n" for ours in MAESTRO.values() for step in re.findall("`(.*?)`", ours)]
    return [*blocks, *(line for line in lines if ": " in line)]


def test_the_steps_of_the_page_can_be_read(tmp_path: Path) -> None:
    """Every step that the page shows is one, and makes sense."""
    shown = steps_of(TEST_FILES.read_text(encoding="utf-8"))
    (tmp_path / "sign_in.claw.yaml").write_text("steps: [back]", encoding="utf-8")
    path = tmp_path / "test_it.claw.yaml"

    for steps in shown:
        path.write_text(f"steps:\n{steps}", encoding="utf-8")
        read_test_file(path, root=tmp_path)

    assert len(shown) > 20


def test_every_step_of_test_files_is_documented() -> None:
    """The tables are those that the reader gives; `python -m tests.yaml_reference` writes them."""
    page = TEST_FILES.read_text(encoding="utf-8")

    assert page == yaml_reference.with_tables(page)


def test_every_key_of_app_files_is_documented() -> None:
    """The tables are those that the schema gives; `python -m tests.app_file_reference` writes."""
    page = APP_FILES.read_text(encoding="utf-8")

    assert page == with_tables(page)


def test_a_mistake_in_an_app_file_is_reported_as_documented() -> None:
    """The message in the page is the one that its example gives when it is spoilt so."""
    page = read("app-files.md")
    (text,) = re.findall(r"^```yaml\n(# bank\.yaml\n.*?)^```$", page, re.S | re.M)
    spoilt = text.replace("{balance: -amount}", "{balance: -typed}")

    with pytest.raises(ConfigurationError) as refused:
        parse_app(spoilt, path=Path("bank.yaml"))

    assert f"```text\n{refused.value.message}\n```" in page


def test_links_lead_somewhere() -> None:
    """A link to a file names an existing file."""
    link = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")

    broken = [
        (document.name, target)
        for document in [*DOCUMENTS, TOP / "CONTRIBUTING.md", TOP / "CHANGELOG.md"]
        for target in link.findall(document.read_text(encoding="utf-8"))
        if "://" not in target and not (document.parent / target).exists()
    ]

    assert broken == []


def test_named_files_exist() -> None:
    """A path in these documents is that of a file or folder of the project or the package."""
    path = re.compile(r"[\w.-]+(/[\w.-]*)+|[\w-]+\.(py|md)")
    for document in (TOP / "CONTRIBUTING.md", DOCS / "architecture.md"):
        spans = re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))
        named = [one for one in spans if path.fullmatch(one)]

        missing = [one for one in named if not any((top / one).exists() for top in PLACES)]

        assert named, document
        assert missing == [], document


def public_members() -> set[str]:
    """Return the public names of the package, and what each class has, as pages name them."""
    names = {f"pytest_clawperator.{name}" for name in ROOT.__all__}
    for name in ROOT.__all__:
        value = getattr(ROOT, name)
        kind = value if isinstance(value, type) else type(value)
        if kind.__module__.startswith("pytest_clawperator.") and not issubclass(kind, Enum):
            prefix = f"pytest_clawperator.{name}" if kind is value else _qualified(kind)
            names |= {f"{prefix}.{member}" for member in _members(kind)}
    return names


def described_in(trees: Path) -> set[str]:
    """Return the Python names that the built pages describe."""
    environment = pickle.loads((trees / "environment.pickle").read_bytes())
    return set(environment.domaindata["py"]["objects"])


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


def _members(kind: type) -> Iterator[str]:
    """Yield the public methods, properties and fields that a class has from this package."""
    fields = {field.name for field in dataclasses.fields(kind)} if is_dataclass(kind) else set()
    fields |= set(getattr(kind, "model_fields", ()))
    for name in fields:
        if not name.startswith("_"):
            yield name
    for base in kind.__mro__:
        if base.__module__.startswith("pytest_clawperator."):
            for name, value in vars(base).items():
                is_own = isinstance(value, (FunctionType, property, classmethod, cached_property))
                if is_own and not name.startswith("_") and name != "model_post_init":
                    yield name


def test_pages_are_built(tmp_path: Path) -> None:
    """The pages are read without a warning, and the reference has every public name."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("the pages are built with Sphinx: pip install --group docs")
    # As `make docs`, but without writing any HTML.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "dummy"]

    built = subprocess.run(
        [*command, "-d", tmp_path / "trees", DOCS, tmp_path / "none"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr
    assert sorted(public_members() - described_in(tmp_path / "trees")) == []


def test_every_option_is_documented(request: pytest.FixtureRequest) -> None:
    """The table has every option of the plugin, and none that is not."""
    options = {name for name in vars(request.config.option) if name.startswith("claw_")}

    documented = re.findall(r"^\| `(--claw-[a-z-]+)", read("options.md"), re.MULTILINE)

    assert sorted(documented) == sorted(f"--{name.replace('_', '-')}" for name in options)


def test_no_option_is_made_up(request: pytest.FixtureRequest) -> None:
    """Every option that a document names exists."""
    known = {f"--{name.replace('_', '-')}" for name in vars(request.config.option)}
    known |= {option.off_flag for option in OPTIONS if option.off_flag}

    unknown = [
        (document.name, flag)
        for document in DOCUMENTS
        for flag in re.findall(r"--claw-[a-z][a-z-]*[a-z]", document.read_text(encoding="utf-8"))
        if flag not in known
    ]

    assert unknown == []


def test_every_marker_is_documented(request: pytest.FixtureRequest) -> None:
    """Each marker has a chapter that begins with how it is written."""
    lines = [line for line in request.config.getini("markers") if line.startswith("claw_")]

    documented = re.findall(r"^## (\w+)\n\n`([^`]+)`", read("markers.md"), re.MULTILINE)

    written = [line[: line.index("):") + 1] for line in lines]
    assert documented == [(line.partition("(")[0], line) for line in written]


def test_every_fixture_is_documented(request: pytest.FixtureRequest) -> None:
    """The table has every fixture of the plugin, and none that is not."""
    parts = [
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if getattr(plugin, "__name__", "").startswith("pytest_clawperator.plugin.")
    ]
    fixtures = {name for part in parts for name in vars(part) if name.startswith("clawperator")}

    documented = re.findall(r"^\| `(clawperator\w*)`", read("fixtures.md"), re.MULTILINE)

    assert sorted(documented) == sorted(fixtures)


def test_every_hook_is_documented() -> None:
    """Each hook is in the table, and has a chapter with an example."""
    hooks = {name for name in vars(hookspecs) if name.startswith("pytest_clawperator_")}
    text = read("hooks.md")

    table = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
    chapters = re.findall(r"^## (\w+)\n.*?^def \1\(", text, re.DOTALL | re.MULTILINE)

    assert sorted(table) == sorted(chapters) == sorted(hooks)


def test_every_code_is_documented() -> None:
    """Each code has its cause and its cure, and none is made up."""
    documented = re.findall(r"^\| `([A-Z_]+)` \| \S.* \| \S.* \|$", read("errors.md"), re.MULTILINE)

    assert sorted(documented) == sorted(code.value for code in ErrorCode)


def test_the_app_in_the_documents_is_one() -> None:
    """The YAML that readers copy is an app that loads."""
    (yaml,) = re.findall(r"^```yaml\n(.*?)^```$", read("simulator.md"), re.DOTALL | re.MULTILINE)

    assert parse_app(yaml).package == "com.example.notes"


def test_every_fault_is_documented() -> None:
    """The page of the simulator lists every fault."""
    page = read("simulator.md")

    assert [fault for fault in FAULTS if f"`{fault}`" not in page] == []
