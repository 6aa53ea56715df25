"""What the kernel tells in ``/proc``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import Phone


def test_the_time_since_the_start_goes_on() -> None:
    """Both numbers grow with the phone's clock, the second for all cores together."""
    phone = Phone()
    first = [float(number) for number in phone.out("cat /proc/uptime").split()]

    phone.clock.now += 100
    second = [float(number) for number in phone.out("cat /proc/uptime").split()]

    assert second[0] - first[0] == 100
    assert 100 < second[1] - first[1] < 800


def test_the_cores_were_busy_for_a_part_of_that_time() -> None:
    """The sum of a core's ticks is the time since the start, and there is a row for each core."""
    rows = [line.split() for line in Phone().out("cat /proc/stat").splitlines()]

    cores = [row for row in rows if re.fullmatch("cpu[0-9]", row[0])]
    assert len(cores) == 8
    assert all(len(row) == 11 for row in [rows[0], *cores])
    assert abs(sum(map(int, cores[0][1:])) - 2000) < 10


def test_memory_and_network_are_told() -> None:
    """Clients read the total, and count the bytes of an interface."""
    phone = Phone()

    assert re.search(r"^MemTotal: +[0-9]{7} kB$", phone.out("cat /proc/meminfo"), re.MULTILINE)
    assert re.search(r"^ wlan0: +[0-9]+ ", phone.out("cat /proc/net/dev"), re.MULTILINE)
    assert phone.out("ls /sys/devices/system/cpu").split()[-1] == "cpu7"
