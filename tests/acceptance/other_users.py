"""Processes of other users of the machine: honest ones, and one who attacks the lock files.

They are users without a name: any number will do, and nothing is written to ``/etc/passwd``.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

DEADLINE = 60.0
MALLORY, ADA, BOB = 54_321, 54_322, 54_323

_ROOT = Path(__file__).parents[2]

# Everything is imported before the process becomes the user, who may not read the sources.
_BECOME = """
import json, os, sys

def become(user):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)

def serve(commands):
    become(int(sys.argv[1]))
    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            answer = commands[name](*arguments)
        except Exception as exc:
            answer = {"raised": type(exc).__name__, "message": str(exc)}
        print(json.dumps(answer), flush=True)
"""

_HONEST = """
import codecs, time
from contextlib import ExitStack
from pathlib import Path
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.execution.flight import Flight

for encoding in ("ascii", "utf-16-le"):
    codecs.lookup(encoding)
held = ExitStack()
holding = []

def fly(folder):
    flight = Flight("phone", folder=Path(folder))
    with flight.claim("cmd-honest", serial="s") as claim:
        claim.take_off(time.monotonic() + 60)
        claim.check()
        claim.land()
        problem = claim.problem
    flight.close()
    return {"problem": problem}

def lease(folder):
    store = FileLeases(run_id="honest", folder=Path(folder))
    holder = store.holder("phone")
    hold = store.try_take("phone")
    if hold is not None:
        hold.check()
        hold.release()
    return {"taken": hold is not None, "holder": str(holder)}

def hold(folder):
    holding.append(FileLeases(run_id="honest", folder=Path(folder)).try_take("phone"))
    holding.append(held.enter_context(Flight("phone", folder=Path(folder)).claim("c", serial="s")))

def check(number):
    holding[number].check()

def release():
    holding[0].release()
    held.close()
    holding.clear()

serve({"fly": fly, "lease": lease, "hold": hold, "check": check, "release": release})
"""

_HOSTILE = """
import fcntl, socket, threading

kept = []
stop = threading.Event()

def in_place(paths, make):
    for path in paths:
        make(path)

def symlink(target, *paths): in_place(paths, lambda path: os.symlink(target, path))
def hard_link(target, *paths): in_place(paths, lambda path: os.link(target, path))

def take_name(name):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(bytes.fromhex(name))

def write(content, mode, is_locked, *paths):
    for path in paths:
        file = open(path, "wb", buffering=0)
        file.write(content.encode("latin-1"))
        os.fchmod(file.fileno(), mode)
        if is_locked:
            fcntl.flock(file, fcntl.LOCK_EX)
        kept.append(file)

def own_folder(path, mode):
    os.mkdir(path)
    os.chmod(path, mode)

def replace(*paths):
    for path in paths:
        open(path + ".new", "wb").close()
        os.rename(path + ".new", path)

def remove(*paths): in_place(paths, os.unlink)
def move(path, to): os.rename(path, to)

def swap(path, target):
    def loop():
        while not stop.is_set():
            for make, unmake in ((lambda: os.symlink(target, path), os.unlink),
                                 (lambda: os.mkdir(path), os.rmdir)):
                try:
                    make()
                    unmake(path)
                except OSError:
                    pass
    kept.append(threading.Thread(target=loop))
    kept[-1].start()

def end_swap():
    stop.set()
    kept[-1].join()

def let_go():
    while kept:
        kept.pop().close()

serve(dict(globals()))
"""


class OtherUser:
    """A process of another user, which does what the test asks."""

    def __init__(self, user: int, script: str) -> None:
        self.user = user
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BECOME + script, str(user)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        )

    @classmethod
    def honest(cls, user: int) -> OtherUser:
        """Start one who uses phones."""
        return cls(user, _HONEST)

    @classmethod
    def hostile(cls) -> OtherUser:
        """Start one who attacks."""
        return cls(MALLORY, _HOSTILE)

    def do(self, name: str, *arguments: Any) -> Any:
        """Have the process do something, and return what came of it; a hang is a failure."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        shown = [str(one) if isinstance(one, Path) else one for one in arguments]
        self.process.stdin.write(json.dumps([name, shown]).encode() + b"\n")
        self.process.stdin.flush()
        readable, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert readable, f"{name} hangs"
        return json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()
