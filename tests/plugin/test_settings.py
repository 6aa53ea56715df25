"""The settings of a run: values of options and ini twins, and what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from zipfile import ZipFile

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.simulator.apps.load  # noqa: F401
from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.plugin.settings import (
    Settings,
    is_ci,
    refuse_options_without_effect,
    settings_of,
)
from tests.plugin.conftest import Run

DOCUMENT = Path(__file__).parents[2] / "docs" / "options.md"
NO_TOML = "by design: pytest reads native TOML from 9.0 on"
has_toml = pytest.mark.skipif(pytest.version_tuple < (9, 0), reason=NO_TOML)
APP = "package: com.example.a\nname: A\nstart: home\nscreens: {home: {title: A}}\n"


def read(pytester: pytest.Pytester, *options: str) -> Settings:
    """Return the settings of a run with these options."""
    config = pytester.parseconfig(*options)
    settings = settings_of(config)
    refuse_options_without_effect(config)
    return settings


def test_help_lists_every_option_and_its_ini_twin(run_plain: Run) -> None:
    """They stand in a group of their own, and each is a field of the settings."""
    text = run_plain("--help").stdout.str()

    assert "Android devices (pytest-clawperator):" in text
    for option in OPTIONS:
        assert f"  {option.flag}" in text
        assert f"  {option.dest} (" in text
    assert {option.field for option in OPTIONS} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(
    ("field", "written", "value"),
    [
        ("timeout", "1.5", 1.5),
        ("timeout", "0", 0.0),
        ("display", "0", 0),
        ("matchers", "first", "first"),
        ("lease_timeout", "30", 30.0),
        ("spare_devices", "2", 2),
        ("emulator_boot", "snapshot", "snapshot"),
        ("emulator_boots", "3", 3),
        ("sim_profile", "0.5.3", "0.5.3"),
        ("sim_time_scale", "0.02", 0.02),
        ("screenshot", "on", "on"),
        ("logcat", "full", "full"),
        ("trace", "only-on-failure", "retain-on-failure"),
        ("operator_package", "com.example.operator", "com.example.operator"),
    ],
)
def test_the_option_wins_over_the_ini_twin(
    pytester: pytest.Pytester, field: str, written: str, value: object
) -> None:
    """And the ini twin over the default."""
    flag = f"--claw-{field.replace('_', '-')}={written}"
    device = ("--claw-device=sim", "--claw-device=emulator")

    default = read(pytester, *device)
    on_line = read(pytester, *device, flag)
    pytester.makeini(f"[pytest]\nclaw_{field} = {written}\n")
    in_file = read(pytester, *device)
    pytester.makeini(f"[pytest]\nclaw_{field} = nonsense\n")

    assert getattr(read(pytester, *device, flag), field) == value
    assert getattr(on_line, field) == getattr(in_file, field) == value
    assert getattr(default, field) == getattr(Settings(), field)


SECONDS = "the value must be a number of seconds, found"
KINDS = "is not a device. Allowed: auto (any *, a serial *sim:4*"
PLACE = "Allowed: redis://host:6379/0 (or rediss://, unix://), or nothing for lock files *"
BEGINS = "begins with none of redis://, rediss://, unix://"
REFUSED = [
    ("timeout", "soon", f"{SECONDS} 'soon'. *"),
    ("timeout", "-1", f"{SECONDS} -1.0. *"),
    ("timeout", "nan", f"{SECONDS} 'nan'. *"),
    ("timeout", "inf", f"{SECONDS} inf. *"),
    ("timeout", "5000", "* at most 600 seconds, found 5000.0. Seconds, not milliseconds? *are 5."),
    *[("lease_timeout", text, f"{SECONDS} *") for text in ("soon", "-1", "nan", "inf")],
    *[
        ("spare_devices", text, f"found {text!r}, allowed is a number from 0 on, as in 2")
        for text in ("some", "-1", "1.5", "99999", "²")
    ],
    *[
        ("emulator_boots", text, f"found {text!r}, allowed is a number from 1 on, as in 2")
        for text in ("all", "0")
    ],
    ("emulator_boot", "warm", "found 'warm', allowed is cold or snapshot"),
    ("display", "inner", "found 'inner', allowed is a number*"),
    ("matchers", "loose", "found 'loose', allowed is strict or first"),
    ("sim_profile", "newest", "found 'newest', allowed is documented or 0.5.3"),
    *[
        ("sim_time_scale", text, f"found {text!r}, allowed is a factor from 0 to 1000*")
        for text in ("quick", "-1", "nan", "2000")
    ],
    *[
        (field, "sometimes", "found 'sometimes', allowed is off, on or only-on-failure")
        for field in ("screenshot", "snapshot", "video")
    ],
    ("logcat", "whole", "found 'whole', allowed is off, on, only-on-failure or full"),
    ("trace", "sometimes", "found 'sometimes', allowed is off, on or retain-on-failure"),
    ("screenshot", "retain-on-failure", "* or only-on-failure: here it is called only-on-failure"),
    ("operator_package", "operator", "'operator' is not the name of an Android package. *"),
    ("operator_apk", "missing.apk", "there is no file */missing.apk"),
    ("operator_apk", "text.apk", "*/text.apk is not an APK, which is a zip file with an A*.xml"),
    ("operator_apk", "zip.apk", "*/zip.apk is not an APK, which is a zip file with an A*.xml"),
    ("sim_app", "missing.yaml", "there is no file */missing.yaml"),
    ("sim_app", "begin.yaml", "*/begin.yaml:*: *`begin`*"),
    *[("sim_app", f"{name}.yaml", f"*/{name}.yaml:[12]:[12]: *") for name in ("words", "brace")],
    ("output", "text.apk", "*/text.apk is a file, and evidence needs a folder"),
    ("output", "text.apk/deeper", "*/text.apk is a file, and evidence needs a folder"),
    ("output", "x" * 1000, "no evidence can be kept in *; allowed is a folder that can be made *"),
    ("skills", "nowhere", "found 'nowhere', where no * is; allowed is a skills repository or *"),
    ("require", "api", "*api*"),
    ("require", "api=new", "api='new' is not a requirement * can meet. Allowed: a level or*"),
    ("require", "form=watch", "form='watch' is not a requirement * can meet. Allowed: 'phone'*"),
    ("require", "weight=1", "*weight*Allowed*api*manufacturer*"),
    ("require", "emulator=maybe", "emulator='maybe' is not a requirement * Allowed: true *false*"),
    ("matrix", "apis=33", '"apis=33": there is no "apis". Did you mean api=? Allowed*'),
    ("matrix", "form=watch", "form='watch' is not a requirement *. Allowed: 'phone' *"),
    ("matrix", "phones", '"phones": it has no name=value. Allowed: each (*'),
    ("emulator", "device=../x", '"../x" is not allowed as device of an emulator. Allowed: up to *'),
    ("emulator", "as_it_is=1", 'unknown emulator property "as_it_is". *'),
    ("emulator", "api=5", '"5" is not allowed as api of an emulator. Allowed: a whole number *'),
    ("emulator", "apis=34", 'unknown emulator property "apis". * did you mean api=?*'),
    ("emulator", "api=34,api=35", '"api=34,api=35" names api twice. Name each value once.'),
    ("emulator", "abi=mips", '"mips" is not allowed as abi of an emulator. Allowed: one of *'),
    *[
        ("adb", text, f"*{text!r}. Allowed*host:port*")
        for text in ("somewhere", "127.0.0.1:0", "host:port")
    ],
    *[
        ("device", text, f"{text!r} {KINDS}")
        for text in ("sim:0", "sim:+", "auto:2", "http://", "http://h:abc/s", "http://h:0/s")
    ],
    *[
        ("device", text, f"{text!r} {KINDS}")
        for text in ("http://h:99999/s", "http://h:1/a/b", "ftp://x/y", "h:3000/s")
    ],
    *[
        ("device", text, f"{text!r} is not a device. Did you mean {meant}? Allowed: auto *")
        for text, meant in (
            *(("SIM", "sim"), ("simulator", "sim"), ("Auto", "auto"), ("Sim:2", "sim:2")),
            ("HTTP://Lab/PH1", "http://Lab/PH1"),
        )
    ],
    ("device", "sim:phone,tablett", "*did you mean `tablet`?*Allowed: a number of phones*"),
    ("device", "sim:api=3", "*`api` cannot be '3'; allowed: 21 to 99*"),
    ("device", "sim:phone;tablet", "*two parts say what the form is*"),
    *[
        ("lease", text, f"'{text}' is not a place to keep leases: it {BEGINS}. {PLACE}")
        for text in ("redis", "http://localhost", "/var/locks")
    ],
    ("lease", "redis://", "* it names no host. *"),
    ("lease", "redis://:abc/SECRET@127.0.0.1:6399/0", "* its password must be encoded: write *"),
    ("lease", "redis://127.0.0.1:6399/0?foo=SECRET", "* foo is unknown; known: db. *"),
    ("lease", "redis://:SECRET@/0", "* it names no host. *"),
    ("redact", "key-[", "'key-[[]' is not a regular expression: *"),
    ("redact", "(key)?", "'(key)[?]' matches an empty text, *"),
    ("redact", "\\\\w+", r"'*w+' matches 'test' in 'test', which is ordinary text, *"),
    ("redact", "env:", "found 'env:', allowed is env: and the name of an environment variable*"),
]


@pytest.mark.parametrize(("field", "written", "message"), REFUSED)
def test_a_value_that_makes_no_sense_is_refused(
    pytester: pytest.Pytester, field: str, written: str, message: str
) -> None:
    """On the command line and in the ini file, with what is allowed and without passwords."""
    for name, text in {"text.apk": "<html>", "words.yaml": "just words", "brace.yaml": "{"}.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    (pytester.path / "begin.yaml").write_text(APP.replace("start", "begin"), encoding="utf-8")
    with ZipFile(pytester.path / "zip.apk", "w") as archive:
        archive.writestr("README", "")
    flag = f"--claw-{field.replace('_', '-')}"
    on_line = written.replace("\\\\", "\\")

    with pytest.raises(pytest.UsageError) as refused:
        read(pytester, f"{flag}={on_line}")
    pytester.makeini(f"[pytest]\nclaw_{field} = {written}\n")
    with pytest.raises(pytest.UsageError) as refused_in_file:
        read(pytester)

    for error, source in ((refused, flag), (refused_in_file, f"the ini option claw_{field}")):
        lines = pytest.LineMatcher(str(error.value).splitlines())
        lines.fnmatch_lines([f"{source}: *"])
        assert "SECRET" not in str(error.value)
        whole = pytest.LineMatcher([str(error.value).replace("\n", " ")])
        whole.fnmatch_lines([f"{source}: {message}"])


def test_a_refused_value_ends_the_run(pytester: pytest.Pytester, run_plain: Run) -> None:
    """It is a usage error, before any test."""
    pytester.makepyfile("def test_it(): pass")

    result = run_plain("--claw-timeout=soon")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --claw-timeout: {SECONDS} 'soon'. *"])


@pytest.mark.parametrize("folder", ["/proc/evidence", "a\0b"])
def test_a_folder_that_cannot_be_made_is_refused(pytester: pytest.Pytester, folder: str) -> None:
    """Not even root can write below /proc."""
    pytester.makeini(f"[pytest]\nclaw_output = {folder}\n")

    with pytest.raises(pytest.UsageError, match=r"claw_output: .*(can be kept|no file name)"):
        read(pytester)


def test_an_empty_value_is_refused(pytester: pytest.Pytester) -> None:
    """With what is wanted; in an ini file it takes a value back."""
    for option in [one for one in OPTIONS if one.metavar]:
        with pytest.raises(pytest.UsageError) as refused:
            read(pytester, f"{option.flag}=")
        wanted = f"{option.flag}: found '', allowed is {option.metavar}: {option.help}"
        assert str(refused.value) == wanted
    pytester.makeini("[pytest]\nclaw_device = sim\nclaw_timeout = 2\n")

    settings = read(pytester, "-o", "claw_device=", "-o", "claw_timeout=")

    assert (settings.device, settings.timeout) == ((), 5.0)


@has_toml
def test_the_typed_table_of_the_documents_is_read(pytester: pytest.Pytester) -> None:
    """As they say."""
    blocks = DOCUMENT.read_text(encoding="utf-8").split("```toml\n")
    pytester.makepyprojecttoml(blocks[1].partition("```")[0])

    settings = read(pytester)

    assert [str(one) for one in settings.device] == ["R58M123", "emulator-5554"]
    assert (settings.timeout, settings.strict) == (10.0, True)


@has_toml
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("claw_timeout = 3", 'claw_timeout: .* got int: 3; in TOML it is written "SECONDS"'),
        ('claw_device = "sim"', r"claw_device: .* got str: 'sim'; in TOML .* written \[\"SPEC\"\]"),
        ('claw_strict = "yes"', "claw_strict: .* got str: 'yes', allowed is true or false"),
    ],
)
def test_a_value_of_another_type_is_refused(
    pytester: pytest.Pytester, line: str, message: str
) -> None:
    """With how it is written in TOML."""
    pytester.makepyprojecttoml(f"[tool.pytest]\n{line}\n")

    with pytest.raises(pytest.UsageError, match=f"the ini option {message}"):
        read(pytester)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--claw-sim-profile=0.5.3"], "this run has no simulated phones; add --claw-device sim"),
        (["--claw-sim-time-scale=1", "--claw-device=R58"], "this run has no simulated phones"),
        (["--claw-sim-app=a.yaml"], "this run has no simulated phones"),
        (["--claw-emulator=api=34", "--claw-device=sim"], "this run starts no emulators"),
        (["--claw-emulator-boot=snapshot"], "this run starts no emulators"),
        (["--claw-emulator-boots=2"], "this run starts no emulators"),
        (["--claw-emulator-keep"], "this run starts no emulators"),
        (
            ["--claw-adb=127.0.0.1:5037", "--claw-device=sim:2", "--claw-device=http://lab:3000"],
            "--claw-device sim:2 and --claw-device http://lab:3000 asks no adb server; name a",
        ),
        (
            ["--claw-operator-apk=o.apk", "--claw-device=http://lab:3000"],
            "behind a url it is up to that host; install it there",
        ),
    ],
)
def test_an_option_without_effect_is_refused(
    pytester: pytest.Pytester, options: list[str], reason: str
) -> None:
    """But not in an ini file, which serves several runs."""
    (pytester.path / "a.yaml").write_text(APP, encoding="utf-8")
    with ZipFile(pytester.path / "o.apk", "w") as apk:
        apk.writestr("AndroidManifest.xml", "")
    flag, _, value = options[0].partition("=")

    with pytest.raises(pytest.UsageError) as refused:
        read(pytester, *options)
    pytester.makeini(f"[pytest]\n{flag[2:].replace('-', '_')} = {value or 'true'}\n")
    read(pytester, *options[1:])

    assert str(refused.value).startswith(f"{flag} has no effect: {reason}")


@pytest.mark.parametrize(
    ("options", "ini", "ci", "strict"),
    [
        ([], "", None, False),
        (["--claw-strict"], "claw_strict = false", "false", True),
        ([], "claw_strict = true", None, True),
        ([], "", "true", True),
        (["--claw-no-strict"], "claw_strict = true", "true", False),
        ([], "claw_strict = false", "1", False),
    ],
)
def test_ci_makes_a_run_strict(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    ini: str,
    ci: str | None,
    strict: bool,
) -> None:
    """Unless the option or its ini twin decides."""
    pytester.makeini(f"[pytest]\n{ini}\n")
    if ci is not None:
        monkeypatch.setenv("CI", ci)

    assert read(pytester, *options).strict is strict


def test_ci_counts_as_set_unless_its_value_is_a_no() -> None:
    """As in other tools."""
    for value in ("", "0", "false", "No", " off "):
        assert not is_ci({"CI": value}), value
    for value in ("1", "true", "True", "woodpecker"):
        assert is_ci({"CI": value}), value
    assert not is_ci({})
