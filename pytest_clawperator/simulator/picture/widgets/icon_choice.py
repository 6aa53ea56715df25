"""Which icon stands for a node, by the words on it."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

# The first line one of whose words is found wins.
_WORDS = {
    "back": "up back navigate",
    "close": "close dismiss clear",
    "search": "search find",
    "more": "more options overflow",
    "menu": "menu drawer navigation",
    "cart": "cart basket checkout shop store orders order",
    "plus": "add plus increase increment new",
    "minus": "minus decrease decrement less",
    "bin": "delete bin trash remove",
    "check": "check done ok confirm",
    "wifi": "wi-fi wifi network internet connections wireless",
    "bluetooth": "bluetooth connected devices",
    "battery": "battery power charging",
    "bell": "notification notifications alerts alert",
    "sun": "display brightness wallpaper wallpapers theme",
    "sound": "sound volume vibration audio",
    "storage": "storage memory",
    "lock": "lock security privacy password permission permissions",
    "pin": "location address delivery map",
    "person": "account accounts profile user users people login",
    "apps": "apps applications catalogue catalog categories",
    "info": "info information about help tips",
    "phone": "phone device system developer",
    "globe": "language languages locale keyboard web browser",
    "heart": "favourite favourites favorite favorites wishlist like wellbeing health",
    "star": "star rating ratings review",
    "home": "home start",
    "gear": "settings preferences configure general",
    "image": "image photo picture",
}
_ICON_OF_WORD = {word: icon for icon, words in reversed(_WORDS.items()) for word in words.split()}
_RANK = {icon: rank for rank, icon in enumerate(_WORDS)}
_SPLIT = re.compile(r"[^a-z-]+")


def icon_name(node: UiNode) -> str | None:
    """Find an icon for a node by its label and id, else by the row it is in."""
    found = _icon_for(node.label) or _icon_for(node.resource_id.rpartition("/")[2])
    above = node.parent
    if found is None and not node.label and above is not None and above.kind == "row":
        names = (below.label for below in above.walk() if below.kind == "row_title")
        found = _icon_for(next(names, above.label))
    return found


@lru_cache(maxsize=1024)
def _icon_for(text: str) -> str | None:
    words = _SPLIT.split(text.lower())
    icons = [_ICON_OF_WORD[word] for word in words if word in _ICON_OF_WORD]
    return min(icons, key=_RANK.__getitem__) if icons else None
