"""A running emulator: its boot, its console, its snapshots and what it remembers."""

from __future__ import annotations

from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench, await_true

BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
SIGNS = "getprop sys.boot_completed; getprop dev.bootcomplete; getprop init.svc.bootanim"
SCREEN = "sim screen | grep ^com"
SETTINGS = "com.android.settings/com.android.settings.Settings"


def remember(bench: SdkBench, serial: str) -> str:
    """Leave something in the settings, in a file and on the screen; return the boot's id."""
    bench.shell(serial, "am start -W com.android.settings/.Settings")
    bench.shell(serial, "settings put global kept yes; echo hi > /sdcard/kept.txt")
    return bench.shell(serial, BOOT_ID)


def end(bench: SdkBench, serial: str) -> None:
    """End an emulator in good order."""
    bench.console(serial, "kill")
    await_true(lambda: serial not in bench.devices(), "it is gone")
    bench.await_end()


def forget(bench: SdkBench, serial: str) -> None:
    """Undo all of it."""
    bench.shell(serial, "settings delete global kept; rm /sdcard/kept.txt; input keyevent HOME")
    await_true(lambda: bench.shell(serial, SCREEN) != SETTINGS, "the home screen shows")


def kept(bench: SdkBench, serial: str) -> list[str]:
    """Return what is there of it."""
    command = f"settings get global kept; cat /sdcard/kept.txt; {SCREEN}; {BOOT_ID}"
    return bench.shell(serial, command).splitlines()


class TestBoot:
    """The stages of a boot, and boots that do not end."""

    def test_it_boots_in_stages(self, bench: SdkBench) -> None:
        """Adb shows it as offline, then as a device that boots; at last Android says so."""
        bench.create("x")
        bench.behave(offline_seconds=0.3, boot_seconds=1.0)
        seen: list[str] = []

        def has_booted() -> bool:
            for serial, state in bench.devices().items():
                signs = bench.shell(serial, SIGNS) if state == "device" else state
                seen.extend([signs] if signs and signs not in seen else [])
            return seen[-1:] == ["1\n1\nstopped"]

        bench.start("x")
        await_true(has_booted, "it boots")

        stages = ["offline", "running", "1\n1\nstopped"]
        assert seen == [stage for stage in stages if stage in seen]

    def test_a_boot_may_never_end(self, bench: SdkBench) -> None:
        """It stays where the scenario stops it, and can still be ended."""
        bench.create("x")
        bench.behave(never="connects")

        process = bench.start("x")
        serial = bench.serial_of(process)
        await_true(lambda: bench.devices().get(serial) == "offline", "it is offline")
        process.terminate()

        assert process.wait(DEADLINE) == 0

    def test_it_registers_again_when_the_adb_server_was_restarted(self, bench: SdkBench) -> None:
        """A server that ends is replaced, and knows the emulator again."""
        bench.create("x")
        serial = bench.boot("x")

        bench.adb("kill-server")

        bench.settle(serial)
        assert bench.shell(serial, "echo hello") == "hello"


class TestConsole:
    """What the console does."""

    def test_kill_ends_it_unless_it_is_refused(self, bench: SdkBench) -> None:
        """A scenario has it refuse once; then its process ends in good order."""
        bench.create("x")
        bench.create("stubborn")
        bench.behave(emulators={"stubborn": {"kill": "refused"}})
        willing, stubborn = bench.boot("x"), bench.boot("stubborn")

        ended, refused = bench.console(willing, "kill"), bench.console(stubborn, "kill")

        assert ended == "OK: killing emulator, bye bye\nOK"
        assert refused.startswith("KO: ")
        await_true(lambda: [*bench.devices()] == [stubborn], "only one is left")


class TestSnapshots:
    """States that are saved and loaded."""

    def test_a_snapshot_brings_the_whole_phone_back(self, bench: SdkBench) -> None:
        """Settings, files, the screen and the boot's id are those of the moment of saving."""
        bench.create("x")
        serial = bench.boot("x")
        boot_id = remember(bench, serial)
        saved = bench.console(serial, "avd snapshot save logged-in")
        forget(bench, serial)
        before = bench.connection(serial)

        loaded = bench.console(serial, "avd snapshot load logged-in")
        bench.settle(serial, after=before)

        assert (saved, loaded) == ("OK", "OK")
        assert kept(bench, serial) == ["yes", "hi", SETTINGS, boot_id]

    def test_a_load_that_fails_leaves_the_phone_as_it_is(self, bench: SdkBench) -> None:
        """A scenario has snapshots fail."""
        bench.create("x")
        bench.behave(snapshot_failure="load")
        serial = bench.boot("x")
        bench.console(serial, "avd snapshot save here")
        bench.shell(serial, "settings put global kept yes")

        answer = bench.console(serial, "avd snapshot load here")

        missing = bench.console(serial, "avd snapshot load nowhere")
        assert answer == "KO: Failed to load snapshot 'here'"
        assert missing == "KO: Device 'cache' does not have the requested snapshot 'nowhere'"
        assert bench.shell(serial, "settings get global kept") == "yes"


class TestMemory:
    """What an emulator remembers from one start to the next."""

    def test_snapshots_and_data_outlive_the_emulator(self, bench: SdkBench) -> None:
        """A quick boot goes on where it ended; a named snapshot can be started from."""
        bench.create("x")
        serial = bench.boot("x")
        boot_id = remember(bench, serial)
        bench.console(serial, "avd snapshot save logged-in")
        bench.shell(serial, "settings put global kept later")
        end(bench, serial)

        serial = bench.boot("x")
        quick = kept(bench, serial)
        end(bench, serial)
        serial = bench.boot("x", "-snapshot", "logged-in")

        assert quick == ["later", "hi", SETTINGS, boot_id]
        assert kept(bench, serial) == ["yes", "hi", SETTINGS, boot_id]

    def test_a_cold_boot_keeps_data_and_a_wiped_one_nothing(self, bench: SdkBench) -> None:
        """Settings and files are there, the screen and the boot's id are new."""
        bench.create("x")
        serial = bench.boot("x", "-no-snapshot")
        boot_id = remember(bench, serial)
        end(bench, serial)

        serial = bench.boot("x", "-no-snapshot-load")
        setting, file, screen, new_id = kept(bench, serial)
        end(bench, serial)
        serial = bench.boot("x", "-wipe-data")

        assert (setting, file) == ("yes", "hi")
        assert screen != SETTINGS
        assert new_id != boot_id
        assert bench.shell(serial, "settings get global kept") == "null"
