"""What adbd answers by itself on a phone whose build is for users, not for developers."""

from __future__ import annotations

REPLIES = {
    "root:": "adbd cannot run as root in production builds\n",
    "unroot:": "adbd not running as root\n",
    "remount:": 'Not running as root. Try "adb root" first.\n',
    "disable-verity:": "verity cannot be disabled/enabled - USER build\n",
    "enable-verity:": "verity cannot be disabled/enabled - USER build\n",
}
"""Destinations that always get the same answer."""

_NO_REVERSE = "this simulated phone opens no connections to the host"


def reverse_reply(request: str) -> bytes:
    """Answer ``adb reverse``: nothing is forwarded, so there is nothing to list or to end."""
    if request == "list-forward":
        return b"0000"
    if request == "killforward-all":
        return b"OKAY"
    return f"FAIL{len(_NO_REVERSE):04x}{_NO_REVERSE}".encode()
