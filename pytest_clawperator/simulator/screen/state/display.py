"""The display of a phone: size, density, rotation, and light or dark."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.state.changes import Changes

_REFERENCE_WIDTH = 1080
_REFERENCE_DENSITY = 420
_LEAST_FONT_SCALE, _MOST_FONT_SCALE = 0.25, 5.0


class Display:
    """What apps are laid out for; each change of it changes what shows.

    ``right_to_left`` is whether everything is mirrored, and ``cutout`` how many dp of its upper
    edge apps may not use; both are how the phone is made.
    """

    def __init__(self, size: tuple[int, int], *, density: int | None, changes: Changes) -> None:
        self._natural_size = size
        self._density = density if density is not None else default_density(size)
        self._rotation = 0
        self._dark = False
        self._font_scale = 1.0
        self._changes = changes
        self.right_to_left = False
        self.cutout = 0

    @property
    def insets(self) -> tuple[int, int, int, int]:
        """What a cutout takes of the left, the top, the right and the bottom, in pixels."""
        taken = self.cutout * self._density // 160
        around = [0, taken, 0, 0]
        left, top, right, bottom = around[self._rotation :] + around[: self._rotation]
        return left, top, right, bottom

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as the phone is held now."""
        width, height = self._natural_size
        return (height, width) if self._rotation % 2 else (width, height)

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size that the display has when it is not turned."""
        self._natural_size = size
        self._changes.note()

    @property
    def density(self) -> int:
        """Dots per inch."""
        return self._density

    @density.setter
    def density(self, density: int) -> None:
        self._density = max(1, density)
        self._changes.note()

    @property
    def rotation(self) -> int:
        """Quarter turns: 0 to 3."""
        return self._rotation

    @rotation.setter
    def rotation(self, rotation: int) -> None:
        if rotation % 4 != self._rotation:
            self._rotation = rotation % 4
            self._changes.note()

    @property
    def dark(self) -> bool:
        """Whether apps are drawn dark."""
        return self._dark

    @dark.setter
    def dark(self, dark: bool) -> None:
        if dark != self._dark:
            self._dark = dark
            self._changes.note()

    @property
    def font_scale(self) -> float:
        """How much larger than usual texts are."""
        return self._font_scale

    @font_scale.setter
    def font_scale(self, scale: float) -> None:
        self._font_scale = min(max(scale, _LEAST_FONT_SCALE), _MOST_FONT_SCALE)
        self._changes.note()

    def contains(self, x: int, y: int) -> bool:
        """Whether a point lies on the display."""
        width, height = self.size
        return 0 <= x < width and 0 <= y < height


def default_density(size: tuple[int, int]) -> int:
    """Return the density at which a display shows as much as 1080 pixels do at 420 dpi."""
    return max(40, round(_REFERENCE_DENSITY * min(size) / _REFERENCE_WIDTH))
