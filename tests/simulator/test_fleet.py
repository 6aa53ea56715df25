"""Many executions on many phones: nothing is lost, nothing overlaps, nothing piles up."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from benchmarks.adb_client import Adb, Phone
from pytest_clawperator.simulator import Simulator

EXECUTIONS = 10_000 if os.environ.get("CLAWPERATOR_SOAK") else 300
PHONES = 4


def memory_kib(pid: int) -> int:
    """Ask the system how much memory a process holds."""
    asked = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(asked.stdout)


def test_executions_in_a_row_on_several_phones() -> None:
    """Each execution is answered by its own envelope; the counters agree, and memory is flat."""
    with Simulator(devices=PHONES) as simulator:
        adb = Adb(simulator.adb_host, simulator.adb_port)
        phones = [Phone(adb, serial) for serial in simulator.serials]

        def work(phone: Phone, count: int) -> None:
            for _ in range(count):
                assert b'"status":"success"' in phone.execute()

        with ThreadPoolExecutor(PHONES) as pool:
            list(pool.map(work, phones, [EXECUTIONS // 10] * PHONES))
            early = memory_kib(simulator.pid)
            list(pool.map(work, phones, [EXECUTIONS - EXECUTIONS // 10] * PHONES))
            late = memory_kib(simulator.pid)
        stats = [json.loads(adb.shell(serial, "sim stats")) for serial in simulator.serials]
        for phone in phones:
            phone.close()

    assert [each["executions"] for each in stats] == [EXECUTIONS] * PHONES
    assert [each["overlaps"] for each in stats] == [0] * PHONES
    # The log's ring buffer fills up to its size and no further.
    assert late < early + PHONES * 12 * 1024


def test_phones_are_what_was_asked_for() -> None:
    """Size, density, API level, language and theme are those of the kind, in every answer."""
    kinds = "tablet+api=30+locale=ar-EG+dark,size=720x1600+density=280"
    with Simulator(devices=kinds, api=34) as simulator:
        adb = Adb(simulator.adb_host, simulator.adb_port)
        tablet, small = simulator.serials

        def ask(serial: str, command: str) -> str:
            return adb.shell(serial, command).decode().strip()

        asked = {
            command: (ask(tablet, command), ask(small, command))
            for command in (
                "wm size", "wm density", "getprop ro.build.version.sdk",
                "getprop ro.build.version.release", "getprop ro.product.model",
                "getprop ro.build.characteristics", "getprop ro.sf.lcd_density",
                "getprop persist.sys.locale", "getprop ro.product.locale",
                "settings get system system_locales", "cmd uimode night",
                "settings get secure ui_night_mode",
            )
        }  # fmt: skip
        shown = [ask(serial, "dumpsys display") for serial in (tablet, small)]

    assert asked == {
        "wm size": ("Physical size: 1600x2560", "Physical size: 720x1600"),
        "wm density": ("Physical density: 320", "Physical density: 280"),
        "getprop ro.build.version.sdk": ("30", "34"),
        "getprop ro.build.version.release": ("11", "14"),
        "getprop ro.product.model": ("Pixel Tablet", "Pixel 8"),
        "getprop ro.build.characteristics": ("tablet,nosdcard", "nosdcard"),
        "getprop ro.sf.lcd_density": ("320", "280"),
        "getprop persist.sys.locale": ("ar-EG", "en-US"),
        "getprop ro.product.locale": ("ar-EG", "en-US"),
        "settings get system system_locales": ("ar-EG", "en-US"),
        "cmd uimode night": ("Night mode: yes", "Night mode: no"),
        "settings get secure ui_night_mode": ("2", "1"),
    }
    assert "real 1600 x 2560" in shown[0]
    assert "density 320" in shown[0]
    assert "real 720 x 1600" in shown[1]
