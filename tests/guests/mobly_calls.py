"""A test of Mobly's that uses its Android controller; ``test_mobly.py`` runs it as Mobly does."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mobly import asserts, base_test, test_runner, utils
from mobly.controllers import android_device
from mobly.controllers.android_device_lib import adb, apk_utils

SETTINGS = "com.android.settings"
GUEST = "com.example.guest"
DEADLINE = 20.0


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + DEADLINE
    while not holds():
        asserts.assert_less(time.monotonic(), end, f"it did not become so within {DEADLINE:g} s")
        time.sleep(0.05)


class PhoneTest(base_test.BaseTestClass):  # type: ignore[misc]  # Mobly has no types
    """The calls of ``AndroidDevice``, each a test, in any order."""

    def setup_class(self) -> None:
        """Take the phone and the emulator of the configuration."""
        self.phone, self.emulator = self.register_controller(android_device, min_number=2)
        self.folder = Path(self.log_path)

    def test_services_of_a_new_controller(self) -> None:
        """The log is recorded from the start."""
        asserts.assert_true(self.phone.services.logcat.is_alive, "no logcat")

    def test_device_lists(self) -> None:
        """Each list has the phone."""
        asserts.assert_in(self.phone.serial, android_device.list_adb_devices())
        asserts.assert_equal(len(android_device.get_all_instances()), 2)
        asserts.assert_equal(
            android_device.get_device([self.phone, self.emulator], serial=self.phone.serial),
            self.phone,
        )

    def test_build_info(self) -> None:
        """What a phone is built from is told in full."""
        info = self.phone.build_info
        asserts.assert_equal(info["build_version_sdk"], "36")
        asserts.assert_equal(info["build_type"], "user")
        asserts.assert_equal([key for key, value in info.items() if not value], [])

    def test_device_info(self) -> None:
        """The summary has what the test adds."""
        self.phone.add_device_info("room", "4")
        asserts.assert_equal(self.phone.device_info["user_added_info"], {"room": "4"})

    def test_model(self) -> None:
        """The model is the product's name."""
        asserts.assert_true(self.phone.model, "no model")

    def test_emulator_is_recognised(self) -> None:
        """Only the emulator is one."""
        asserts.assert_true(self.emulator.is_emulator, "the emulator is none")
        asserts.assert_false(self.phone.is_emulator, "the phone is one")

    def test_state(self) -> None:
        """The phone has booted, and is not in its bootloader."""
        asserts.assert_true(self.phone.is_boot_completed(), "not booted")
        asserts.assert_true(self.phone.is_adb_detectable(), "not seen")
        asserts.assert_false(self.phone.is_bootloader, "in the bootloader")

    def test_root(self) -> None:
        """A build for users has no root, and says so."""
        asserts.assert_false(self.phone.is_rootable, "rootable")
        asserts.assert_false(self.phone.is_adb_root, "root")
        asserts.assert_in(b"production builds", self.phone.adb.root())

    def test_shell(self) -> None:
        """Output, status and errors of commands come back."""
        asserts.assert_equal(self.phone.adb.shell(["echo", "a  b"]), b"a b\n")
        with asserts.assert_raises(adb.AdbError) as caught:
            self.phone.adb.shell("echo no >&2; exit 3")
        asserts.assert_equal((caught.exception.ret_code, caught.exception.stderr), (3, b"no\n"))

    def test_shell_timeout(self) -> None:
        """A command that takes too long is left."""
        with asserts.assert_raises(adb.AdbTimeoutError):
            self.phone.adb.shell("sleep 30", timeout=0.5)

    def test_shell_command_names(self) -> None:
        """What is there is found, and what is not is not."""
        asserts.assert_true(self.phone.adb.has_shell_command("ls"), "no ls")
        asserts.assert_false(self.phone.adb.has_shell_command("nothing"), "nothing")

    def test_properties(self) -> None:
        """One property and several."""
        asserts.assert_equal(self.phone.adb.getprop("sys.boot_completed"), "1")
        names = ["ro.build.version.sdk", "ro.product.model", "no.such.property"]
        asserts.assert_equal(
            self.phone.adb.getprops(names),
            {"ro.build.version.sdk": "36", "ro.product.model": "Pixel 9"},
        )

    def test_current_user(self) -> None:
        """The first user is the current one."""
        asserts.assert_equal(self.phone.adb.current_user_id, 0)

    def test_forward(self) -> None:
        """A forwarded port is listed and counts as taken."""
        port = utils.get_available_host_port()
        self.phone.adb.forward([f"tcp:{port}", "tcp:8080"])
        asserts.assert_in(port, adb.list_occupied_adb_ports())
        self.phone.adb.forward(["--remove", f"tcp:{port}"])
        asserts.assert_not_in(port, adb.list_occupied_adb_ports())

    def test_reverse(self) -> None:
        """A port of the phone leads to the machine."""
        port = utils.get_available_host_port()
        self.phone.adb.reverse(["tcp:18081", f"tcp:{port}"])
        asserts.assert_in(f"tcp:18081 tcp:{port}".encode(), self.phone.adb.reverse(["--list"]))
        self.phone.adb.reverse(["--remove", "tcp:18081"])

    def test_files(self) -> None:
        """Files go to the phone and come back."""
        sent, got = self.folder / "sent.txt", self.folder / "got.txt"
        sent.write_text("hello")
        self.phone.adb.push([str(sent), "/sdcard/sent.txt"])
        self.phone.adb.pull(["/sdcard/sent.txt", str(got)])
        asserts.assert_equal(got.read_text(), "hello")

    def test_logcat_file(self) -> None:
        """What is logged comes into the file of the test."""
        path = Path(self.phone.adb_logcat_file_path)
        self.phone.adb.shell(["log", "-t", "Mobly", "first"])
        until(lambda: "Mobly   : first" in path.read_text("utf-8", "replace"))

    def test_logcat_pause(self) -> None:
        """What is logged during a pause is there after it."""
        logcat = self.phone.services.logcat
        with self.phone.handle_usb_disconnect():
            asserts.assert_false(logcat.is_alive, "still recording")
            self.phone.adb.shell(["log", "-t", "Mobly", "paused"])
        path = Path(logcat.adb_logcat_file_path)
        until(lambda: "Mobly   : paused" in path.read_text("utf-8", "replace"))

    def test_logcat_excerpts(self) -> None:
        """The log of a test is cut out."""
        (excerpt,) = self.phone.services.logcat.create_output_excerpts(self.current_test_info)
        asserts.assert_true(Path(excerpt).is_file(), "no excerpt")

    def test_screenshot(self) -> None:
        """A picture comes back, and none is left on the phone."""
        path = Path(self.phone.take_screenshot(str(self.folder)))
        asserts.assert_true(path.read_bytes().startswith(b"\x89PNG"), "no picture")
        asserts.assert_false(self._has_pictures(), "a picture is left")

    def test_screenshot_of_all_displays(self) -> None:
        """A picture of each display comes back."""
        paths = self.phone.take_screenshot(str(self.folder), prefix="all", all_displays=True)
        asserts.assert_equal(len(paths), 1)

    def test_bug_report(self) -> None:
        """A report of the whole phone is a zip, which does not stay on it."""
        path = self.phone.take_bug_report(test_name="guest")
        with zipfile.ZipFile(path) as archive:
            asserts.assert_is_none(archive.testzip())
            asserts.assert_in("main_entry.txt", archive.namelist())

    def test_bug_reports_of_all(self) -> None:
        """Several phones report at once."""
        reports = self.folder / "reports"
        both = [self.phone, self.emulator]
        android_device.take_bug_reports(both, destination=str(reports))
        asserts.assert_equal(len(list(reports.rglob("*.zip"))), 2)

    def test_apk(self) -> None:
        """An app is installed, found, and removed."""
        apk_utils.install(self.phone, self.user_params["apk"])
        asserts.assert_true(apk_utils.is_apk_installed(self.phone, GUEST), "not installed")
        apk_utils.uninstall(self.phone, GUEST)
        asserts.assert_false(apk_utils.is_apk_installed(self.phone, GUEST), "still installed")

    def test_instrumentation(self) -> None:
        """An app's own tests run on the phone."""
        self.phone.adb.instrument("com.example.shop")

    def test_snippet(self) -> None:
        """Code of the test runs inside an app of the phone."""
        self.phone.load_snippet("snippet", "com.example.shop")

    def test_iperf(self) -> None:
        """The speed of the network is measured."""
        succeeded, _ = self.phone.run_iperf_client("127.0.0.1")
        asserts.assert_true(succeeded, "not measured")

    def test_reboot(self) -> None:
        """The phone comes back with another boot id, and its log goes on."""
        command = "cat /proc/sys/kernel/random/boot_id"
        before = self.phone.adb.shell(command)
        self.phone.reboot()
        asserts.assert_true(self.phone.is_boot_completed(), "not booted")
        asserts.assert_not_equal(self.phone.adb.shell(command), before)
        asserts.assert_true(self.phone.services.logcat.is_alive, "no logcat")

    def _has_pictures(self) -> bool:
        try:
            return bool(self.phone.adb.shell("ls /storage/emulated/0/*.png").strip())
        except adb.AdbError:
            return False

    def on_fail(self, record: Any) -> None:
        """Take nothing: the report has the error."""


if __name__ == "__main__":
    test_runner.main()
