"""Whole files: tests, what stands above their steps, and the files that they use."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator import ConfigurationError
from pytest_clawperator.test_files.file import read_test_file
from tests.test_files.conftest import Read

WHOLE = """
    tags: [smoke, slow]
    timeout: 10
    fixtures: [clawperator, account]
    variables:
      shop: com.example.shop
      greeting: Welcome to ${shop}
      password: {env: SHOP_PASSWORD}
    tests:
      Items can be opened:
        description: Each item has its own screen.
        app: {package: com.example.shop, clear: true, grant: [android.permission.CAMERA]}
        device: {api: ">=33", form: phone}
        markers:
          flaky: {reruns: 2}
          skipif: {args: [false], reason: never}
          order: [1, 2]
          ours:
        parameters:
          tea: {item: Tea, number: 1}
          milk: {item: Milk, number: 2}
        steps:
          - use: sign_in.claw.yaml
            with: {user: "${account}", password: "${password}"}
          - expect: ${greeting}
          - click: ${item}
      test_two:
        steps: [back]
"""

SIGN_IN = """
    needs: [user, password]
    variables:
      field: email
    steps:
      - enter_text: {value: "${user}", id: "${field}"}
      - enter_text: {value: "${password}", id: password, secret: true}
"""

PYTHON = '''\
"""The tests of test_it.claw.yaml as Python."""

from __future__ import annotations

import os
from typing import Any

import pytest
from pytest_clawperator import Clawperator, expect

pytestmark = [pytest.mark.smoke, pytest.mark.slow, pytest.mark.claw_timeout(10)]


def do_sign_in(clawperator: Clawperator, *, user: Any, password: Any) -> None:
    """Sign in."""
    field = "email"
    clawperator.enter_text(user, id=field)
    clawperator.enter_text(password, id="password", secret=True)


@pytest.mark.claw_app("com.example.shop", clear=True, grant=["android.permission.CAMERA"])
@pytest.mark.claw_device(api=">=33", form="phone")
@pytest.mark.flaky(reruns=2)
@pytest.mark.skipif(False, reason="never")
@pytest.mark.order(1, 2)
@pytest.mark.ours
@pytest.mark.parametrize(
    ("item", "number"),
    [pytest.param("Tea", 1, id="tea"), pytest.param("Milk", 2, id="milk")],
)
def test_items_can_be_opened(
    clawperator: Clawperator,
    account: Any,
    item: str,
    number: int,
) -> None:
    """Each item has its own screen."""
    shop = "com.example.shop"
    greeting = f'Welcome to {shop}'
    password = os.getenv("SHOP_PASSWORD") or pytest.fail(
        "the environment variable SHOP_PASSWORD is not set",
    )
    do_sign_in(clawperator, user=account, password=password)
    expect(clawperator.node(text=greeting)).to_be_visible()
    clawperator.click(text=item)


def test_two(clawperator: Clawperator, account: Any) -> None:
    """Test two."""
    clawperator.back()
'''


def test_a_file_is_the_module_that_one_would_write(read: Read) -> None:
    """Tags, markers, parameters, fixtures, variables and used files have their place in Python."""
    assert read(WHOLE, sign_in=SIGN_IN) == PYTHON


def test_a_file_with_steps_is_one_test(read: Read) -> None:
    """A file without `tests:` is a test with the name of the file."""
    written = read("parameters: [{n: 1}, {n: 2}]\nsteps: [back]")

    assert "def test_it(clawperator: Clawperator, n: int) -> None:" in written
    assert '@pytest.mark.parametrize("n", [1, 2])' in written


def test_lines_are_those_of_the_files(tmp_path: Path) -> None:
    """Each function is in its own file, each statement in its own line."""
    (tmp_path / "more.claw.yaml").write_text("steps:\n  - home\n", encoding="utf-8")
    path = tmp_path / "test_it.claw.yaml"
    path.write_text("tests:\n  one:\n    steps:\n      - back\n      - use: more.claw.yaml\n")
    namespace: dict[str, object] = {}

    read_test_file(path, root=tmp_path).run(namespace)

    # Functions, as those of a module.
    test, more = namespace["test_one"].__code__, namespace["do_more"].__code__  # type: ignore[attr-defined]
    assert (test.co_filename, test.co_firstlineno) == (str(path), 2)
    assert {line for _, _, line in test.co_lines() if line} == {2, 4, 5}
    assert more.co_filename == str(tmp_path / "more.claw.yaml")
    assert {line for _, _, line in more.co_lines() if line} == {1, 2}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "a test file is a mapping, found null"),
        ("- back", "1:1", "a test file is a mapping, found a list"),
        ("steps: [back]\nstep: 1", "2:1", 'a test file has no "step"; did you mean `steps`?'),
        ("tags: [a]", "1:1", "`steps` is missing"),
        ("tests: {}", "1:8", "tests: at least one is required"),
        ("tests: {a: [back]}", "1:12", "the test `a` is a mapping, found a list"),
        ("tests: {a: {tag: b, steps: [back]}}", "1:13", 'has no "tag"; did you mean `tags`?'),
        ("tests: {a b: {steps: [back]}, a-b: {steps: [back]}}", "1:31", "would both be called"),
        ("tests: {a: {}}\nparameters: []", "2:1", 'a file of several tests has no "parameters"'),
        ("needs: [a]\nsteps: [back]", "1:1", 'a test file has no "needs"'),
        ("tags: smoke\nsteps: [back]", "1:7", "tags: a list is wanted"),
        ("tags: [not ok]\nsteps: [back]", "1:8", '"not ok" is not a valid marker'),
        ("app: {clear: true}\nsteps: [back]", "1:6", "`app` needs `package`"),
        ("app: '${shop}'\nsteps: [back]", "1:6", "there is no variable `shop`; none is known"),
        ("app: {package: a.b, clear: 1}\nsteps: [back]", "1:28", "true or false is wanted"),
        ("device: {form: watch}\nsteps: [back]", "1:16", "one of phone, tablet is wanted"),
        ("timeout: soon\nsteps: [back]", "1:10", "a number (0 to 600) is wanted"),
        ("markers: [a]\nsteps: [back]", "1:10", "markers: a mapping is wanted"),
        ("fixtures: [a, a]\nsteps: [back]", "1:15", "`a` is there twice"),
        ("fixtures: [a b]\nsteps: [back]", "1:12", '"a b" is not a valid name'),
        ("variables: {expect: 1}\nsteps: [back]", "1:13", "it is reserved in Python"),
        ("variables: {a: {env: 5}}\nsteps: [back]", "1:22", "the name of a variable is wanted"),
        ("variables: {a: {enw: X}}\nsteps: [back]", "1:17", 'has no "enw"; did you mean `env`?'),
        ("variables: {a: {ENV: X, default: b}}\nsteps: [back]", "1:17", "did you mean `env`?"),
        ("variables: {a: '${b}', b: 1}\nsteps: [back]", "1:16", "there is no variable `b`"),
        ("parameters: {}\nsteps: [back]", "1:13", "a list of rows is wanted"),
        ("parameters: [5]\nsteps: [back]", "1:14", "a row of parameters is a mapping"),
        ("parameters: [{a: 1}, {b: 1}]\nsteps: [back]", "1:23", 'has no "b"'),
        ("parameters: [{a: 1, b: 1}, {b: 1}]\nsteps: [back]", "1:28", "lacks `a`"),
        ("description: 5\nsteps: [back]", "1:14", "a text is wanted"),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    text: str, place: str, message: str, read: Read
) -> None:
    """What is above the steps is checked as they are."""
    with pytest.raises(ConfigurationError) as caught:
        read(text)

    assert caught.value.code == "TEST_FILE_INVALID"
    assert f"test_it.claw.yaml:{place}: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("use: more.yaml", "a file of steps is called *.claw.yaml"),
        ("use: none.claw.yaml", "use: there is no file none.claw.yaml"),
        ("use: ../more.claw.yaml", "leaves the project"),
        ("use: /etc/more.claw.yaml", "leaves the project"),
        ("use: sub/../../more.claw.yaml", "leaves the project"),
        ("use: linked.claw.yaml", "leaves the project"),
        ('use: "a\\0.claw.yaml"', "use: "),
        ("use: 5", "the path of a file is wanted"),
        ("use: test_it.claw.yaml", "uses itself: test_it.claw.yaml → test_it.claw.yaml"),
        ("use: ring.claw.yaml", "ring.claw.yaml → other.claw.yaml → ring.claw.yaml"),
        ("use: broken.claw.yaml", 'broken.claw.yaml:1:9: there is no step "clik"'),
        ("use: tagged.claw.yaml", 'a file of steps has no "tags"'),
        ("use: empty.claw.yaml", "`steps` is missing"),
        ("use: needy.claw.yaml", "needy.claw.yaml needs `user`: give it under `with:`"),
        ("{use: needy.claw.yaml, with: {user: a, usr: b}}", 'does not need "usr": it needs user'),
        ("{use: needy.claw.yaml, with: [a]}", "with: names and values are wanted"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    step: str, message: str, read: Read, tmp_path: Path
) -> None:
    """Used files are inside the project, use nothing that uses them, and get what they need."""
    (tmp_path / "linked.claw.yaml").symlink_to("/etc/hostname")

    with pytest.raises(ConfigurationError) as caught:
        read(
            f"steps:\n  - {step}",
            ring="steps: [{use: other.claw.yaml}]",
            other="steps: [{use: ring.claw.yaml}]",
            broken="steps: [clik]",
            tagged="tags: [a]\nsteps: [back]",
            empty="needs: []",
            needy="needs: [user]\nsteps: [back]",
        )

    assert caught.value.code == "TEST_FILE_INVALID"
    assert "test_it.claw.yaml:2:" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("content", [b"steps: [\xff]", b"steps: [back", None])
def test_an_unreadable_file_is_refused(content: bytes | None, tmp_path: Path) -> None:
    """With the code of test files; its file is not text, not YAML, or missing."""
    path = tmp_path / "test_it.claw.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"test_it\.claw\.yaml:\d:\d+: ") as caught:
        read_test_file(path, root=tmp_path)

    assert caught.value.code == "TEST_FILE_INVALID"


MAYBE = """
    steps:
      - {click: Later, when: Later}
"""
DEEP = """
    steps:
      - {use: other.claw.yaml, when: Deep}
"""


class Screen:
    """A client of a screen that shows some texts."""

    def __init__(self, shown: str) -> None:
        self._shown = shown.split()

    def node(self, text: str) -> SimpleNamespace:
        """Return whether a text is shown."""
        return SimpleNamespace(exists=lambda: text in self._shown)

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: pytest.MonkeyPatch.context()


@pytest.mark.parametrize(
    ("steps", "shown", "is_idle"),
    [
        ("[{home: , when: Ok}]", "", True),
        ("[{home: , when: Ok}]", "Ok", False),
        ("[{home: , when: Ok}, {back: , when: No}]", "No", False),
        ("[{home: , when: Ok}, back]", "", False),
        ("[{title: t, steps: [{home: , when: Ok}]}]", "", True),
        ("[{title: t, steps: [{home: , when: Ok}]}]", "Ok", False),
        # A condition in a condition.
        ("[{steps: [{home: , when: In}], when: Ok}]", "Ok", True),
        ("[{steps: [{home: , when: In}], when: Ok}]", "Ok In", False),
        ("[{steps: [{home: , when: In}, back], when: Ok}]", "Ok", False),
        # The steps of another file count.
        ("[{use: other.claw.yaml}]", "", True),
        ("[{use: other.claw.yaml}, {home: , when: Ok}]", "Later", False),
        ("[{use: other.claw.yaml}, {home: , when: Ok}]", "Ok", False),
        ("[{use: deep.claw.yaml}]", "Deep", True),
        ("[{use: deep.claw.yaml}]", "Deep Later", False),
    ],
)
def test_a_test_that_did_nothing_fails(
    steps: str, shown: str, is_idle: bool, read: Read, tmp_path: Path
) -> None:
    """However deep its conditions are; one step that was done is enough."""
    read(f"steps: {steps}", other=MAYBE, deep=DEEP)
    namespace: dict[str, Any] = {}
    read_test_file(tmp_path / "test_it.claw.yaml", root=tmp_path).run(namespace)

    try:
        namespace["test_it"](Screen(shown))
    except pytest.fail.Exception as error:
        failed = str(error)
    else:
        failed = ""

    assert ("every step was skipped by its `when:`" in failed) == is_idle
