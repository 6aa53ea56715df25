"""A device whose screen is a picture drawn by the test, for golden pictures."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageDraw

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.golden import GoldenStore
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.runner import SERIAL, Phone, node, screen
from tests.doubles.transport import ScriptedTransport

SIZE = (120, 200)
WHITE = Image.new("RGB", SIZE, "white")
INSETS = "  InsetsSource id=9 type=statusBars frame=[0,0][120,30] visible=true"


def png(image: Image.Image) -> bytes:
    """Return a picture as PNG."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def opened(path: Path | str) -> Image.Image:
    """Read a picture."""
    return Image.open(io.BytesIO(Path(path).read_bytes()))


def boxed(*box: int, fill: str = "black") -> Image.Image:
    """Draw a box on white: left, top, right, bottom, all of them in it."""
    image = WHITE.copy()
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    return image


class Shell(ScriptedTransport):
    """A device that prints the same for every command."""

    printed = ""

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer any command with the same text."""
        return ShellResult(self.printed, "", 0)


class Camera:
    """A device, what it shows, and the folder of its goldens."""

    def __init__(self, folder: Path, density: int | None = 160, insets: str = "") -> None:
        self.folder = folder
        self.store = GoldenStore(folder)
        self.phone = Phone(screen(node(text="12:00", id="clock", bounds="[10,50][60,80]")))
        transport = Shell()
        transport.printed = insets
        info = DeviceInfo(serial=SERIAL, key=SERIAL, density=density)
        self.claw = Clawperator(self.phone, device=Device(transport, info), timeout=0.1)
        goldens.use(self.store)

    def show(self, image: Image.Image) -> Clawperator:
        """Show a picture from now on; return the client."""
        self.phone.picture = png(image)
        return self.claw

    def keep(self, image: Image.Image, key: str = "home-120x200-160dpi") -> Path:
        """Put a golden in place."""
        path = self.folder / "__screens__" / f"{key}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(image))
        return path
