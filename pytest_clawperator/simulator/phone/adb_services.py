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
