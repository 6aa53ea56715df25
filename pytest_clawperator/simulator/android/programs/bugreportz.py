"""``bugreportz``: a report of the whole phone, as a zip."""

from __future__ import annotations

import io
import time
import zipfile

from pytest_clawperator.simulator.android.dumpsys.dumpsys import DUMPS
from pytest_clawperator.simulator.android.programs.saving import save_file
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.log.logcat import LogPrinter
from pytest_clawperator.simulator.shell.shell import Invocation

VERSION = "1.2"
FOLDER = "/data/user_de/0/com.android.shell/files/bugreports"
_USAGE = (
    "usage: bugreportz [-hpv]\n  -h: display this help\n  -p: display progress\n  -v: version\n"
)
_STEPS = 100


async def bugreportz(system: AndroidSystem, invocation: Invocation) -> int:
    """Write a report, and print where it is."""
    words = invocation.args[1:]
    if words == ["-v"]:
        await invocation.err(f"{VERSION}\n")
        return 0
    if words not in ([], ["-p"]):
        await invocation.err(_USAGE)
        return 0 if words == ["-h"] else 1
    path = _path(system)
    if words:
        await invocation.out(f"BEGIN:{path}\nPROGRESS:{_STEPS}/{_STEPS}\n")
    system.files.mkdir(FOLDER, parents=True)
    report = _zipped(system, path.rpartition("/")[2].removesuffix(".zip"))
    if await save_file(invocation, path, report, complaint="could not write {}: {}\n"):
        await invocation.out("FAIL:could not write the report\n")
        return 1
    await invocation.out(f"OK:{path}\n")
    return 0


def _path(system: AndroidSystem) -> str:
    moment = time.strftime("%Y-%m-%d-%H-%M-%S", time.gmtime(system.clock()))
    build = system.properties.get("ro.build.id")
    return f"{FOLDER}/bugreport-{system.build.product}-{build}-{moment}.zip"


def _zipped(system: AndroidSystem, name: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version.txt", "2.0")
        archive.writestr("main_entry.txt", f"{name}.txt")
        archive.writestr(f"{name}.txt", _report(system))
    return data.getvalue()


def _report(system: AndroidSystem) -> bytes:
    printer = LogPrinter("threadtime")
    log = b"".join(printer.render([line]) for line in system.log.since(0))
    properties = "".join(f"[{key}]: [{value}]\n" for key, value in system.properties.items())
    dumps = "".join(
        f"DUMP OF SERVICE {service}:\n{dump(system, [])}" for service, dump in DUMPS.items()
    )
    parts = {
        "SYSTEM PROPERTIES (getprop)": properties.encode("utf-8", "replace"),
        "SYSTEM LOG (logcat -v threadtime)": log,
        "DUMPSYS": dumps.encode("utf-8", "replace"),
    }
    return b"".join(f"------ {title} ------\n".encode() + text for title, text in parts.items())
