"""Which device is meant, and what is known about it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.inventory import (
    ConnectedDevice,
    ask_all,
    choose_device,
    list_devices,
    machine_of,
    read_device,
)
from pytest_clawperator.errors import (
    DeviceError,
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
from tests.doubles.transport import Answer, ScriptedTransport

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


def read(answers: dict[Any, Answer] | None = None, *, server: AdbServer = SERVER) -> DeviceInfo:
    """Read a phone that answers this."""
    return read_device(ScriptedTransport(answers), server=server)


def key_of(serial: str, server: AdbServer = SERVER, *, emulator: bool, number: str = "EMU") -> str:
    """Return the key of a device."""
    properties = f"[ro.serialno]: [{number}]\n[ro.kernel.qemu]: [{int(emulator)}]\n"
    return read_device(ScriptedTransport({"getprop": properties}, serial=serial), server=server).key


def connected(**states: str) -> list[ConnectedDevice]:
    """Return devices of serials and states."""
    return [ConnectedDevice(serial, state, SERVER) for serial, state in states.items()]


def test_devices_are_listed_as_the_server_has_them(simulator: Simulator, server: AdbServer) -> None:
    """What the adb server lists, in its order."""
    devices = list_devices(server)

    assert [(device.serial, device.state) for device in devices] == [
        (serial, "device") for serial in simulator.serials
    ]


def test_a_phone_without_a_serial_number_is_not_usable() -> None:
    """Adb does not accept the words that it lists the phone under as a serial."""
    with FakeAdb({"host:devices": block("(no serial number)\tdevice\n")}) as adb:
        devices = list_devices(adb.server)

    with pytest.raises(NoDeviceError, match=r"\(no serial number\) \(without") as caught:
        choose_device(devices)

    assert "adb tcpip" in str(caught.value)


@pytest.mark.parametrize(
    ("devices", "serial", "variable", "chosen"),
    [
        (connected(A="device"), None, None, "A"),
        (connected(A="unauthorized", B="device", C="offline"), None, None, "B"),
        (connected(A="device", B="device"), "B", None, "B"),
        (connected(A="device"), "", None, "A"),
        (connected(A="device", B="device", C="device"), None, "B", "B"),
        (connected(A="device", B="device", C="device"), "C", "B", "C"),
    ],
)
def test_the_named_or_the_only_device_is_chosen(
    devices: list[ConnectedDevice],
    serial: str | None,
    variable: str | None,
    chosen: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A serial decides, then `ANDROID_SERIAL`; else the only usable device is chosen."""
    if variable is not None:
        monkeypatch.setenv("ANDROID_SERIAL", variable)

    assert choose_device(devices, serial).serial == chosen


@pytest.mark.parametrize(
    ("devices", "serial", "code", "texts"),
    [
        (
            connected(),
            None,
            ErrorCode.NO_DEVICES,
            [
                "no device is connected",
                "USB debugging",
                "python -m pytest_clawperator.simulator",
            ],
        ),
        (
            connected(A="unauthorized", B="offline"),
            None,
            ErrorCode.NO_DEVICES,
            ["A (unauthorized), B (offline)", "Allow USB debugging?", "adb reconnect offline"],
        ),
        (
            connected(A="device", B="device", C="offline"),
            None,
            ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED,
            [
                "2 devices are connected and none was chosen: A, B",
                "connect(serial='A'), or set ANDROID_SERIAL",
            ],
        ),
        (
            connected(A="device", B="offline"),
            "X",
            ErrorCode.DEVICE_NOT_FOUND,
            ["[X] DEVICE_NOT_FOUND: ", "connected: A, B (offline)"],
        ),
        (
            connected(**{"emulator-5554": "device", "PH1": "device"}),
            "emulator-5545",
            ErrorCode.DEVICE_NOT_FOUND,
            ["Did you mean emulator-5554?"],
        ),
    ],
)
def test_without_a_clear_choice_there_is_an_error(
    devices: list[ConnectedDevice], serial: str | None, code: ErrorCode, texts: list[str]
) -> None:
    """It lists the devices that are connected, and says what to do."""
    with pytest.raises(DeviceError) as caught:
        choose_device(devices, serial)

    assert caught.value.code is code
    for text in texts:
        assert text in str(caught.value)


def test_an_absent_device_of_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The variable is what to correct."""
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
def test_an_unusable_device_is_an_error(state: str, code: ErrorCode, hint: str) -> None:
    """Each state has its code, and a hint that says what to do."""
    with pytest.raises(DeviceUnavailableError) as caught:
        choose_device(connected(A=state, B="device"), "A")

    assert (caught.value.code, caught.value.serial) == (code, "A")
    assert hint in str(caught.value.hint)


class TestReading:
    """What a device reports about itself."""

    def test_every_property_of_a_phone_is_read(
        self, phone: AdbTransport, simulator: Simulator, server: AdbServer
    ) -> None:
        """An emulator is recognised, and its key is the place where it is reached."""
        transport = AdbTransport(server, simulator.serials[1])
        info, emulator = read_device(phone, server=server), read_device(transport, server=server)
        transport.close()

        assert info.serial == phone.serial
        assert (info.manufacturer, info.model) == ("Google", "Pixel 9")
        assert (info.api_level, info.release, info.abi) == (36, "16", "arm64-v8a")
        assert (info.size, info.density, info.locale) == ((1080, 2400), 420, "en-US")
        assert not info.emulator
        assert emulator.emulator
        assert emulator.key == f"127.0.0.1/{emulator.serial}"

    def test_the_size_is_that_of_the_chosen_display(self) -> None:
        """A car's second display has its own size and density; one round trip reads all."""
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
        assert transport.round_trips == 1

    def test_an_override_replaces_the_physical_value(self) -> None:
        """A size or density that was set replaces the screen's own."""
        info = read(
            {
                "wm size": "Physical size: 1080x2400\nOverride size: 720x1600\n",
                "wm density": "Physical density: 420\nOverride density: 320\n",
            }
        )

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
    def test_odd_and_missing_answers_are_unknown(
        self, properties: str | ShellResult, size: str | ShellResult
    ) -> None:
        """Nothing that a device answers is an error."""
        info = read({"getprop": properties, "wm size": size})

        assert (info.model, info.api_level, info.size, info.density) == (None,) * 4
        assert info.serial == "PH1"


class TestKeys:
    """One device has one key, by whichever serial and adb server it is reached."""

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
            ("emulator-5554", "EMU", AdbServer("x" * 300, 1), f"{'x' * 300}/emulator-5554"),
            ("emulator-5554", "EMU", AdbServer(path="/run/adb"), "127.0.0.1/emulator-5554"),
            ("CHEAP1", "0123456789ABCDEF", SERVER, "127.0.0.1/CHEAP1"),
            ("NONE", "", SERVER, "127.0.0.1/NONE"),
        ],
    )
    @pytest.mark.usefixtures("resolver")
    def test_the_key_is_the_serial_number_or_the_place(
        self, serial: str, number: str, server: AdbServer, key: str
    ) -> None:
        """A phone without its own serial number is known by where it is reached."""
        assert key_of(serial, server, emulator=False, number=number) == key

    def test_this_machine_is_one_by_all_its_names(self) -> None:
        """Two runs that call this machine differently mean one emulator."""
        hosts = "0.0.0.0", "127.0.1.1", "::", "::1", "::ffff:127.0.0.1", socket.gethostname()
        serials = "emulator-5554", "127.0.0.1:5555", "localhost:5555"

        keys = {key_of("emulator-5554", AdbServer(host, 5037), emulator=True) for host in hosts}
        keys |= {key_of(serial, emulator=True) for serial in serials}

        assert keys == {"127.0.0.1/emulator-5554"}

    def test_what_a_name_leads_to_decides(self, resolver: Resolver) -> None:
        """Another machine is identified by its resolved name.

        A name that resolves to this machine means this machine.
        """
        for name in ("rack-1", "Rack-1.lab", "alias"):
            resolver[name] = ("Rack-1.lab", "198.51.100.77")
        others = {
            key_of("emulator-5554", AdbServer(name, 5037), emulator=True) for name in resolver
        }
        resolver["desk.lab"] = ("desk.lab", "127.0.0.1")

        by_server = key_of("emulator-5554", AdbServer("desk.lab", 5037), emulator=True)
        by_serial = key_of("desk.lab:5555", emulator=True)

        assert others == {"rack-1.lab/emulator-5554"}
        assert by_server == by_serial == "127.0.0.1/emulator-5554"

    def test_emulators_of_the_network_differ_by_place(self, resolver: Resolver) -> None:
        """An emulator's serial number is that of its version, so its place counts."""
        for number in (1, 2):
            resolver[f"rack-{number}"] = (f"rack-{number}", f"198.51.100.{number}")

        serials = "rack-1:5555", "rack-2:5555", "198.51.100.3:6001"
        keys = [key_of(serial, emulator=True, number="EMULATOR35X4X9X0") for serial in serials]

        assert keys == [
            "rack-1/emulator-5554",
            "rack-2/emulator-5554",
            "198.51.100.3/emulator-6000",
        ]
        assert keys[0] == key_of("emulator-5554", AdbServer("rack-1", 5037), emulator=True)


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
    """The mark is random, so no output can contain it."""
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
    """If the shell died half way, the remaining commands count as failed."""

    class Dying(ScriptedTransport):
        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            whole = super().shell(command).stdout
            return ShellResult(whole[: whole.index("two")], "", 1)

    transport = Dying({"a": "one", "b": "two", "c": "three"})

    answers = ask_all(transport, {"a": "a", "b": "b", "c": "c"})

    assert answers["a"] == ShellResult("one", "", 0)
    assert [answers[name].ok for name in "abc"] == [True, False, False]
