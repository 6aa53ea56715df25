"""All operations on emulators, through the processes of a simulated SDK and the real adb."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_clawperator.emulators import boot
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import AdbHost, StartOptions
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceUnavailableError,
    EmulatorError,
    ErrorCode,
)
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_bench import IMAGE, PROFILE, SdkBench

OTHER = EmulatorProfile(api=30, image="default", abi="x86_64", device="pixel_tablet")


def refusal(act: object) -> EmulatorError:
    """Return the error that a call raises; it must have a hint."""
    assert callable(act)
    with pytest.raises(EmulatorError) as raised:
        act()
    assert raised.value.hint
    return raised.value


class TestLife:
    """What an emulator goes through."""

    def test_from_nothing_to_a_ready_emulator_and_back(self, bench: SdkBench) -> None:
        """One is provisioned with a download, found again, stopped, and deleted."""
        said: list[str] = []
        emulators = bench.emulators(profile=OTHER, notify=said.append)

        made = emulators.provision()
        again = emulators.provision()
        name = made.avd_name
        listed, running = emulators.list(), emulators.status()
        emulators.stop(name)
        emulators.delete(name)

        assert (made.created, made.started, made.reused) == (True, True, False)
        assert (again.created, again.started, again.reused) == (False, False, True)
        assert [(avd.name, avd.running, avd.api_level) for avd in listed] == [(name, True, 30)]
        assert listed[0].unsupported_reasons(OTHER) == ()
        assert [(one.serial, one.booted) for one in running] == [(made.serial, True)]
        assert not emulators.inspect(name).exists
        assert [line for line in said if "% downloading" in line]
        assert len(bench.sdk.calls("download")) >= 1

    def test_a_stopped_one_is_started_and_made_ready(self, bench: SdkBench) -> None:
        """A fitting one is started rather than made, and its animations are off."""
        bench.create("mine")
        emulators = bench.emulators()

        found = emulators.provision()

        assert (found.avd_name, found.started, found.created) == ("mine", True, False)
        asked = "settings get global window_animation_scale; settings get global adb_enabled"
        assert bench.shell(found.serial, asked) == "0\n1"
        assert bench.sdk.calls("emulator")[-1].arguments[:3] == (
            "@mine",
            "-no-snapshot-load",
            "-no-boot-anim",
        )
        emulators.stop("mine")
        emulators.start("mine", StartOptions(boot="snapshot", headless=True, ram=3072))
        arguments = bench.sdk.calls("emulator")[-1].arguments
        assert "-no-snapshot-load" not in arguments
        assert {"-no-window", "-no-audio", "-memory", "3072"} <= {*arguments}


class TestErrors:
    """Every error of the documented table."""

    def test_a_missing_tool_is_named(self, bench: SdkBench) -> None:
        """Each operation that needs it says which, and where it was looked for."""
        missing = {"EMULATOR_PATH": "/nowhere/emulator", "SDKMANAGER_PATH": "/nowhere/sdkmanager"}
        emulators = bench.emulators(environment=missing)

        codes = [refusal(act).code for act in (emulators.list, emulators.create)]
        provision = refusal(emulators.provision)

        assert codes == [ErrorCode.ANDROID_SDK_TOOL_MISSING] * 2
        assert provision.code == ErrorCode.ANDROID_SDK_TOOL_MISSING
        assert provision.details["missingTools"] == ["emulator", "sdkmanager"]
        assert "/nowhere/emulator" in str(provision)

    def test_an_unknown_device_is_not_found(self, bench: SdkBench) -> None:
        """It can be neither started, deleted nor used as it is; the existing ones are named."""
        bench.create("mine")
        named = bench.emulators(profile=replace(PROFILE, name="mime", as_it_is=True))

        started = refusal(lambda: named.start("mime"))
        deleted = refusal(lambda: named.delete("mime"))
        errors = [started, deleted, refusal(named.provision)]

        assert {error.code for error in errors} == {ErrorCode.EMULATOR_NOT_FOUND}
        assert {error.hint for error in errors} == {
            "There are: mine. Did you mean mine? Else create it: Emulators().create('mime')."
        }
        assert bench.avds() == ["mine"]

    def test_a_running_one_is_neither_started_nor_deleted(self, bench: SdkBench) -> None:
        """It runs already; one that does not refuses to be stopped."""
        bench.create("mine")
        emulators = bench.emulators()
        not_running = refusal(lambda: emulators.stop("mine"))
        bench.boot("mine")

        started = refusal(lambda: emulators.start("mine"))
        deleted = refusal(lambda: emulators.delete("mine"))

        assert not_running.code == ErrorCode.EMULATOR_NOT_RUNNING
        assert not_running.hint == "Running are: none."
        assert {started.code, deleted.code} == {ErrorCode.EMULATOR_ALREADY_RUNNING}

    def test_a_device_of_that_name_that_does_not_fit_is_unsupported(self, bench: SdkBench) -> None:
        """It is not replaced, and the reasons are given."""
        bench.create("mine", device="pixel_tablet")

        error = refusal(bench.emulators(profile=replace(PROFILE, name="mine")).provision)

        assert error.code == ErrorCode.EMULATOR_UNSUPPORTED
        assert error.details["unsupportedReasons"] == ["unsupported_device_profile"]
        assert "device is pixel_tablet and not pixel_7" in error.message
        assert "Delete it" in (error.hint or "")

    @pytest.mark.parametrize(
        ("scenario", "limits", "code", "texts"),
        [
            (
                {"failure": "kvm_denied"},
                {},
                ErrorCode.EMULATOR_START_FAILED,
                [
                    "emulator mine ended while it started (exit code 1); this user may not use",
                    "\n  the end of its output:\n",
                    "permissions to use KVM",
                    "gpasswd -a",
                ],
            ),
            ({"crash": "booting"}, {}, ErrorCode.EMULATOR_START_FAILED, ["(signal 9)"]),
            (
                {"never": "registers"},
                {"registration": 0.3},
                ErrorCode.EMULATOR_START_FAILED,
                ["to appear in adb"],
            ),
            ({"never": "boots"}, {"boot": 0.3}, ErrorCode.EMULATOR_BOOT_TIMEOUT, ["emulator-"]),
        ],
        ids=["fails", "crashes", "never registers", "never boots"],
    )
    def test_a_failed_start_is_explained(
        self,
        bench: SdkBench,
        scenario: dict[str, str],
        limits: dict[str, float],
        code: ErrorCode,
        texts: list[str],
    ) -> None:
        """The cause, the end of the emulator's output, the limit and a hint are in the error."""
        bench.create("mine")
        bench.behave(**scenario)

        error = refusal(lambda: bench.emulators(**limits).start("mine"))

        assert error.code == code, str(error)
        assert all(text in str(error) for text in texts)
        if "registration" in limits:
            assert error.details["timeoutMs"] == 300

    def test_settings_that_cannot_be_made_are_an_error(self, bench: SdkBench) -> None:
        """Android has booted, and refuses what automation needs."""

        class Refusing(AdbHost):
            def shell(self, serial: str, command: str) -> ShellResult:
                refused = 'echo "cmd: no service" >&2; false'
                return super().shell(serial, refused if "adb_enabled" in command else command)

        bench.create("mine")
        host = Refusing(AdbServer("127.0.0.1", bench.sdk.adb_port))

        error = refusal(lambda: bench.emulators(host=host).start("mine"))

        assert error.code == ErrorCode.EMULATOR_START_FAILED
        assert "failed to enable adb on emulator emulator-" in error.message
        assert error.message.endswith("cmd: no service")
        assert "Restart the emulator" in (error.hint or "")

    @pytest.mark.parametrize("times", [2, 1000])
    def test_an_emulator_that_goes_offline_after_its_boot_is_waited_for(
        self, bench: SdkBench, monkeypatch: pytest.MonkeyPatch, times: int
    ) -> None:
        """Adb reconnects when adbd restarts; one that never comes back fails to start."""
        left = times

        class Reconnecting(AdbHost):
            def shell(self, serial: str, command: str) -> ShellResult:
                nonlocal left
                if "settings put" in command and left > 0:
                    left -= 1
                    raise DeviceUnavailableError("device offline", code=ErrorCode.DEVICE_OFFLINE)
                return super().shell(serial, command)

        monkeypatch.setattr(boot, "_BACK_WITHIN", 0.5)
        bench.create("mine")
        emulators = bench.emulators(host=Reconnecting(AdbServer("127.0.0.1", bench.sdk.adb_port)))

        if times == 2:
            assert emulators.start("mine").booted
        else:
            error = refusal(lambda: emulators.start("mine"))
            assert error.code == ErrorCode.EMULATOR_START_FAILED
            assert "booted and does not answer any more: device offline" in error.message

    @pytest.mark.parametrize(
        ("complaint", "hint"),
        [
            ("AVD not created: Permission denied", "must be writable"),
            ("Package path is not valid. Valid system image paths are:\nnull", "another SDK"),
            ("Exception java.lang.NoClassDefFoundError: javax/xml/bind/X", "older than"),
            ("This tool requires JDK 17 or later. Your version was 11.0.2.", "Java 17"),
            ("java.io.IOException: No space left on device", "Make room"),
        ],
    )
    def test_a_device_that_cannot_be_created_has_its_hint(
        self, bench: SdkBench, complaint: str, hint: str
    ) -> None:
        """The complaint of avdmanager is the message, and leads to what helps."""
        bench.behave(create_failure=complaint)

        error = refusal(bench.emulators().create)

        assert error.code == ErrorCode.ANDROID_AVD_CREATE_FAILED
        assert error.message == f"Error: {complaint}"
        assert hint in (error.hint or "")
        assert error.details["systemImage"] == IMAGE

    def test_a_device_that_cannot_be_stopped_or_deleted_is_an_error(self, bench: SdkBench) -> None:
        """The reasons of the console and of avdmanager are in the messages."""
        bench.create("mine")
        bench.behave(kill="refused", delete_failure="Failed to delete x.avd: Permission denied")
        deleted = refusal(lambda: bench.emulators().delete("mine"))
        bench.boot("mine")

        stopped = refusal(lambda: bench.emulators().stop("mine"))

        assert stopped.code == ErrorCode.EMULATOR_STOP_FAILED
        assert "emulator is busy" in str(stopped)
        assert deleted.code == ErrorCode.EMULATOR_DELETE_FAILED
        assert "Permission denied" in str(deleted)

    def test_a_device_that_was_created_elsewhere_is_an_error(
        self, bench: SdkBench, tmp_path: Path
    ) -> None:
        """An avdmanager with another folder is named, and nothing is left in that folder."""
        elsewhere = {"ANDROID_AVD_HOME": "", "HOME": str(tmp_path)}

        error = refusal(bench.emulators(environment=elsewhere).provision)

        assert error.code == ErrorCode.ANDROID_AVD_CREATE_FAILED
        assert str(tmp_path / ".android" / "avd") in error.message
        assert "ANDROID_AVD_HOME" in str(error.hint)
        assert bench.avds() == []

    @pytest.mark.parametrize(
        ("device", "meant"),
        [
            ("pixel7", "Did you mean device=pixel_7? "),
            ("nexus 5", "Did you mean device=Nexus 5? "),
            ("toaster", ""),
        ],
    )
    def test_an_unknown_device_profile_is_an_error(
        self, bench: SdkBench, device: str, meant: str
    ) -> None:
        """The nearest profile of the SDK is named."""
        unknown = replace(PROFILE, device=device)

        error = refusal(bench.emulators(profile=unknown).create)

        assert error.code == ErrorCode.ANDROID_AVD_CREATE_FAILED
        assert f"No device found matching --device {device}" in error.message
        assert error.hint == f"{meant}`avdmanager list device` shows the devices that there are."

    @pytest.mark.parametrize(
        ("scenario", "text", "hint"),
        [
            ({"download_failure": "network"}, "Connection reset", "by hand"),
            ({"download_failure": "no_space"}, "No space left", "Make room"),
            ({"licences": "refused"}, "were not accepted", "yes | sdkmanager --licenses"),
            ({"images": ()}, "Failed to find package", "sdkmanager --list"),
        ],
    )
    def test_an_image_that_cannot_be_installed_is_an_error(
        self, bench: SdkBench, scenario: dict[str, str], text: str, hint: str
    ) -> None:
        """The complaint of sdkmanager is the message, and the hint is about it."""
        bench.behave(**scenario)

        error = refusal(bench.emulators(profile=OTHER).create)

        assert error.code == ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED
        assert text in str(error)
        assert hint in (error.hint or "")
        assert error.details == {"systemImage": OTHER.system_image}


def test_names_are_found_among_the_notices_of_the_tool(bench: SdkBench, tmp_path: Path) -> None:
    """The real tool prints more than names, on the same stream, and other ends of lines."""
    (tmp_path / "printed").write_bytes(
        b"INFO    | Storing crashdata in: /tmp/emu-crash-35.db, detection is enabled\n"
        b"HAX is working and emulator runs in fast virt mode.\n[140:ERROR:vulkan.cc(9)]\n"
        b"Medium_Phone_API_35\r\n\nWARNING|unknown\nclawperator-pixel\n_old.1\n"
    )
    program = tmp_path / "emulator"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/printed\n")
    program.chmod(0o755)

    names = bench.emulators(environment={"EMULATOR_PATH": str(program)}).names()

    assert names == ["Medium_Phone_API_35", "clawperator-pixel", "_old.1"]


def test_a_malformed_name_is_refused(bench: SdkBench) -> None:
    """No process is started for it."""
    before = len(bench.sdk.calls())

    with pytest.raises(ConfigurationError):
        bench.emulators().start("../../etc")

    assert len(bench.sdk.calls()) == before
