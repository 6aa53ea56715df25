"""Which device is meant, and what is known about it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_clawperator.devices.inventory import (
    ConnectedDevice,
    ask_all,
    choose_device,
    list_devices,
    machine_of,
    read_device,
)
from pytest_clawperator.errors import (
    AmbiguousDeviceError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    NoDeviceError,
    TransportTimeoutError,
)
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.adb_server import FakeAdb, block
from tests.doubles.transport import ScriptedTransport

SERVER = AdbServer("127.0.0.1", 5037)


@pytest.fixture(autouse=True)
def no_serial_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the environment from choosing."""
    monkeypatch.delenv("ANDROID_SERIAL", raising=False)


Resolver = dict[str, tuple[str, str]]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    """Make a resolver that knows these names, each with its canonical name and address."""
    known: Resolver = {}
    real = socket.getaddrinfo

    def look_up(host: str, *arguments: Any, **options: Any) -> list[Any]:
        if host in known:
            name, address = known[host]
            return [(*real(address, *arguments, **options)[0][:3], name, (address, 0))]
        if len(host) > 255 or host.strip(".:0123456789abcdef") == "":
            return real(host, *arguments, **options)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    machine_of.cache_clear()
    yield known
    machine_of.cache_clear()


def key_of(serial: str, server: AdbServer) -> str:
    """Return the key of an emulator."""
    told = "[ro.serialno]: [EMU]\n[ro.kernel.qemu]: [1]\n"
    return read_device(ScriptedTransport({"getprop": told}, serial=serial), server=server).key


def connected(**states: str) -> list[ConnectedDevice]:
    """Make devices of serials and states."""
    return [ConnectedDevice(serial, state, SERVER) for serial, state in states.items()]


def test_a_phone_without_a_serial_number_is_not_usable() -> None:
    """The words that adb lists it under are no serial that it accepts."""
    rows = "(no serial number)\tdevice\n"
    with FakeAdb({"host:devices": block(rows)}) as adb:
        devices = list_devices(adb.server)

    with pytest.raises(NoDeviceError, match=r"\(no serial number\) \(without") as caught:
        choose_device(devices)

    assert "adb tcpip" in str(caught.value)


class TestChoice:
    """Which of the connected devices is used."""

    @pytest.mark.parametrize(
        ("devices", "serial", "chosen"),
        [
            (connected(A="device"), None, "A"),
            (connected(A="unauthorized", B="device", C="offline"), None, "B"),
            (connected(A="device", B="device"), "B", "B"),
            (connected(A="device"), "", "A"),
        ],
    )
    def test_the_named_or_the_only_device_is_chosen(
        self, devices: list[ConnectedDevice], serial: str | None, chosen: str
    ) -> None:
        """A serial decides; without one the only usable device is taken."""
        assert choose_device(devices, serial).serial == chosen

    def test_the_environment_names_a_device(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`ANDROID_SERIAL` names the device where nothing else does."""
        devices = connected(A="device", B="device", C="device")
        monkeypatch.setenv("ANDROID_SERIAL", "B")

        assert choose_device(devices).serial == "B"
        assert choose_device(devices, "C").serial == "C"

    def test_no_device_at_all_is_an_error(self) -> None:
        """Without a device, the hint names both ways to get one."""
        with pytest.raises(NoDeviceError, match="no device is connected") as caught:
            choose_device([])

        assert caught.value.code is ErrorCode.NO_DEVICES
        assert "USB debugging" in str(caught.value.hint)
        assert "python -m pytest_clawperator.simulator" in str(caught.value.hint)

    def test_no_usable_device_is_an_error(self) -> None:
        """Unusable devices are named with what to do about each."""
        with pytest.raises(NoDeviceError) as caught:
            choose_device(connected(A="unauthorized", B="offline"))

        assert "A (unauthorized), B (offline)" in str(caught.value)
        assert "Allow USB debugging?" in str(caught.value.hint)
        assert "adb reconnect offline" in str(caught.value.hint)

    def test_several_devices_and_no_choice_are_an_error(self) -> None:
        """They are listed, with how to choose."""
        with pytest.raises(AmbiguousDeviceError) as caught:
            choose_device(connected(A="device", B="device", C="offline"))

        assert caught.value.code is ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED
        assert "2 devices are connected and none was chosen: A, B" in str(caught.value)
        assert "connect(serial='A'), or set ANDROID_SERIAL" in str(caught.value)
        assert caught.value.details == {"devices": ["A", "B"]}

    def test_an_absent_device_is_an_error(self) -> None:
        """The error lists the devices that are connected."""
        with pytest.raises(DeviceNotFoundError) as caught:
            choose_device(connected(A="device", B="offline"), "X")

        assert str(caught.value).startswith("[X] DEVICE_NOT_FOUND: ")
        assert "connected: A, B (offline)" in str(caught.value)

    def test_a_mistyped_serial_is_corrected(self) -> None:
        """A serial that is nearly that of a connected device gets a question."""
        devices = connected(**{"emulator-5554": "device", "PH1": "device"})

        with pytest.raises(DeviceNotFoundError) as caught:
            choose_device(devices, "emulator-5545")

        assert "Did you mean emulator-5554?" in str(caught.value.hint)

    def test_an_absent_device_of_the_environment_names_the_variable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A serial that came from a variable is what to correct there."""
        monkeypatch.setenv("ANDROID_SERIAL", "X")

        with pytest.raises(DeviceNotFoundError, match=r"\(from ANDROID_SERIAL\); .* nothing"):
            choose_device([])

    @pytest.mark.parametrize(
        ("state", "code", "hint"),
        [
            ("unauthorized", ErrorCode.DEVICE_UNAUTHORIZED, "accept the dialog"),
            ("authorizing", ErrorCode.DEVICE_UNAUTHORIZED, "accept the dialog"),
            ("offline", ErrorCode.DEVICE_OFFLINE, "Reconnect it"),
            ("no permissions (user in plugdev?)", ErrorCode.ADB_NO_USB_PERMISSIONS, "udev"),
            ("recovery", ErrorCode.DEVICE_OFFLINE, "adb reboot"),
            ("", ErrorCode.DEVICE_OFFLINE, "Reconnect it"),
        ],
    )
    def test_an_unusable_device_is_an_error(self, state: str, code: ErrorCode, hint: str) -> None:
        """Each state has its code, and a hint that says what to do."""
        with pytest.raises(DeviceUnavailableError) as caught:
            choose_device(connected(A=state, B="device"), "A")

        assert caught.value.code is code
        assert caught.value.serial == "A"
        assert hint in str(caught.value.hint)


def test_devices_are_listed_as_the_server_has_them(simulator: Simulator, server: AdbServer) -> None:
    """What the adb server lists, in its order."""
    devices = list_devices(server)

    assert [(device.serial, device.state) for device in devices] == [
        (serial, "device") for serial in simulator.serials
    ]


class TestReading:
    """What a device says about itself."""

    def test_a_phone_tells_what_it_is(self, phone: AdbTransport, server: AdbServer) -> None:
        """Every property is read."""
        info = read_device(phone, server=server)

        assert info.serial == phone.serial
        assert (info.manufacturer, info.model) == ("Google", "Pixel 9")
        assert (info.api_level, info.release, info.abi) == (36, "16", "arm64-v8a")
        assert (info.size, info.density, info.locale) == ((1080, 2400), 420, "en-US")
        assert not info.emulator

    def test_an_emulator_is_recognised(self, simulator: Simulator, server: AdbServer) -> None:
        """Its key is the place where it is reached."""
        transport = AdbTransport(server, simulator.serials[1])

        info = read_device(transport, server=server)

        transport.close()
        assert info.emulator
        assert info.key == f"127.0.0.1/{info.serial}"

    def test_a_device_is_read_in_one_round_trip(self) -> None:
        """One shell command answers everything."""
        transport = ScriptedTransport()

        read_device(transport, server=SERVER)

        assert transport.round_trips == 1

    def test_the_size_is_that_of_the_chosen_display(self) -> None:
        """A car's second display has its own size and density."""
        transport = ScriptedTransport(
            {
                "wm size": "Physical size: 1080x2424\n",
                "wm size -d 2": "Physical size: 1920x720\n",
                "wm density -d 2": "Physical density: 160\n",
            }
        )
        transport.display = 2

        info = read_device(transport, server=SERVER)

        assert (info.size, info.density) == ((1920, 720), 160)

    def test_an_override_replaces_the_physical_value(self) -> None:
        """A size or density that was set replaces the screen's own."""
        transport = ScriptedTransport(
            {
                "wm size": "Physical size: 1080x2400\nOverride size: 720x1600\n",
                "wm density": "Physical density: 420\nOverride density: 320\n",
            }
        )

        info = read_device(transport, server=SERVER)

        assert (info.size, info.density) == ((720, 1600), 320)

    @pytest.mark.parametrize(
        ("properties", "size"),
        [
            (ShellResult("", "", 127), ShellResult("", "", 127)),
            ("\n", "Physical size: ?x?\n"),
            ("[ro.build.version.sdk]: [R]\n[ro.product.model]: []\n", "Error: no display\n"),
            ("[[[]]]: [\n", "Physical size: 1x2x3"),
        ],
    )
    def test_what_is_odd_or_missing_is_unknown(
        self, properties: str | ShellResult, size: str | ShellResult
    ) -> None:
        """Nothing that a device answers is an error."""
        transport = ScriptedTransport({"getprop": properties, "wm size": size})

        info = read_device(transport, server=SERVER)

        assert (info.model, info.api_level, info.size, info.density) == (None,) * 4
        assert info.serial == "PH1"

    @pytest.mark.parametrize(
        ("serial", "number", "server", "key"),
        [
            ("R58M1234", "R58M1234", SERVER, "R58M1234"),
            ("192.168.1.20:5555", "R58M1234", SERVER, "R58M1234"),
            ("adb-R58M1234-x._adb-tls-connect._tcp", "R58M1234", SERVER, "R58M1234"),
            ("emulator-5554", "EMU", SERVER, "127.0.0.1/emulator-5554"),
            ("127.0.0.1:4000", "SIM", SERVER, "127.0.0.1/127.0.0.1:4000"),
            ("localhost:4000", "SIM", SERVER, "127.0.0.1/127.0.0.1:4000"),
            ("emulator-5554", "EMU", AdbServer("localhost", 1), "127.0.0.1/emulator-5554"),
            ("emulator-5554", "EMU", AdbServer("lab-3", 1), "lab-3/emulator-5554"),
            ("emulator-5554", "EMU", AdbServer(path="/run/adb"), "127.0.0.1/emulator-5554"),
            ("CHEAP1", "0123456789ABCDEF", SERVER, "127.0.0.1/CHEAP1"),
            ("NONE", "", SERVER, "127.0.0.1/NONE"),
        ],
    )
    @pytest.mark.usefixtures("resolver")
    def test_one_phone_has_one_key(
        self, serial: str, number: str, server: AdbServer, key: str
    ) -> None:
        """The key is the phone's serial number; without one, the place where it is reached."""
        transport = ScriptedTransport({"getprop": f"[ro.serialno]: [{number}]\n"}, serial=serial)

        assert read_device(transport, server=server).key == key

    @pytest.mark.parametrize(
        "host", ["0.0.0.0", "127.0.1.1", "::", "::1", "::ffff:127.0.0.1", socket.gethostname()]
    )
    def test_this_machine_is_one_by_all_its_names(self, host: str) -> None:
        """Two runs that call this machine differently mean one emulator."""
        assert key_of("emulator-5554", AdbServer(host, 5037)) == "127.0.0.1/emulator-5554"
        assert key_of("emulator-5554", SERVER) == "127.0.0.1/emulator-5554"

    def test_an_address_of_this_machine_is_here(self, resolver: Resolver) -> None:
        """What a name leads to decides, be it the name of an adb server or of a device."""
        resolver["desk.lab"] = ("desk.lab", "127.0.0.1")

        by_server = key_of("emulator-5554", AdbServer("desk.lab", 5037))
        by_serial = key_of("desk.lab:5555", SERVER)

        assert by_server == by_serial == "127.0.0.1/emulator-5554"

    def test_another_machine_is_one_by_all_its_names(self, resolver: Resolver) -> None:
        """The name that a resolver has for another machine counts, not the one that was typed."""
        for name in ("rack-1", "Rack-1.lab", "alias"):
            resolver[name] = ("Rack-1.lab", "198.51.100.77")

        keys = {key_of("emulator-5554", AdbServer(name, 5037)) for name in resolver}

        assert keys == {"rack-1.lab/emulator-5554"}

    def test_a_name_that_nobody_knows_stays_what_it_is(self, resolver: Resolver) -> None:
        """A lookup that fails is no error."""
        assert key_of("emulator-5554", AdbServer("lab-3", 5037)) == "lab-3/emulator-5554"
        assert key_of("emulator-5554", AdbServer("x" * 300, 1)) == f"{'x' * 300}/emulator-5554"

    def test_emulators_of_the_network_are_told_apart(self, resolver: Resolver) -> None:
        """An emulator's serial number is that of its version; where it is reached tells which."""
        resolver["rack-1"], resolver["rack-2"] = (
            ("rack-1", "198.51.100.1"),
            ("rack-2", "198.51.100.2"),
        )
        told = "[ro.serialno]: [EMULATOR35X4X9X0]\n[ro.kernel.qemu]: [1]\n"
        serials = ("rack-1:5555", "rack-2:5555", "198.51.100.3:6001")
        transports = [ScriptedTransport({"getprop": told}, serial=serial) for serial in serials]

        keys = [read_device(one, server=SERVER).key for one in transports]

        assert keys == [
            "rack-1/emulator-5554",
            "rack-2/emulator-5554",
            "198.51.100.3/emulator-6000",
        ]
        assert keys[0] == key_of("emulator-5554", AdbServer("rack-1", 5037))

    @pytest.mark.parametrize("serial", ["emulator-5554", "127.0.0.1:5555", "localhost:5555"])
    def test_an_emulator_has_one_key_by_all_its_names(self, serial: str) -> None:
        """An emulator that was also connected to by its port is not two devices."""
        told = "[ro.serialno]: [EMU]\n[ro.kernel.qemu]: [1]\n"
        transport = ScriptedTransport({"getprop": told}, serial=serial)

        key = read_device(transport, server=SERVER).key

        assert key == "127.0.0.1/emulator-5554"


def test_each_answer_stands_under_its_name(phone: AdbTransport) -> None:
    """Outputs and exit codes are separated, without a final line break too."""
    answers = ask_all(
        phone,
        {
            "plain": "echo one; echo two",
            "bare": "echo -n abc",
            "bad": "echo no >&2; (exit 3)",
            "none": "nosuchcommand",
            "quiet": "true",
        },
    )

    assert answers["plain"] == ShellResult("one\ntwo\n", "", 0)
    assert answers["bare"] == ShellResult("abc", "", 0)
    assert answers["bad"] == ShellResult("no\n", "", 3)
    assert answers["none"].missing
    assert answers["quiet"] == ShellResult("", "", 0)


def test_output_cannot_pass_for_a_mark() -> None:
    """The mark is random, so no output can hold it."""
    hostile = "0123456789abcdef:0\n:0\n$?\nrest"
    transport = ScriptedTransport({"first": hostile, "second": "2"})

    answers = ask_all(transport, {"first": "first", "second": "second"})

    assert answers["first"].stdout == hostile
    assert answers["second"].stdout == "2"
    assert transport.round_trips == 1


def test_a_timeout_names_the_first_command(phone: AdbTransport) -> None:
    """The error shows a readable command instead of the line that was sent."""
    with pytest.raises(TransportTimeoutError) as caught:
        ask_all(phone, {"a": "sleep 9", "b": "dumpsys power"}, timeout=0.2)

    assert caught.value.message == "no answer to `sleep 9; ...` came within 0.2 s"


def test_commands_that_were_not_reached_fail() -> None:
    """Where the shell died half way, the rest has an exit code that is no success."""

    class Dying(ScriptedTransport):
        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            whole = super().shell(command).stdout
            return ShellResult(whole[: whole.index("two")], "", 1)

    transport = Dying({"a": "one", "b": "two", "c": "three"})

    answers = ask_all(transport, {"a": "a", "b": "b", "c": "c"})

    assert answers["a"] == ShellResult("one", "", 0)
    assert [answers[name].ok for name in "abc"] == [True, False, False]
