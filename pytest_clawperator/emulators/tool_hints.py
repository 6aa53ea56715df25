"""What to do about complaints of the SDK's tools, from what real ones were seen to print."""

from __future__ import annotations

import re

#: What ``sdkmanager`` says of a package that it leaves out, whatever its exit code.
NOT_ACCEPTED = r"licen[cs]es?\b.*not accepted|accept.*licen[cs]e"
_NO_SPACE = r"no space|disk full|not enough"
# Before Java's own complaints: no Java that is newer helps the old tools.
_TOO_OLD = (
    r"javax/xml/bind|javax\.xml\.bind",
    "These tools are older than this Java: unpack Google's command line tools into"
    " $ANDROID_HOME/cmdline-tools/latest.",
)
_JAVA = (
    r"JAVA_HOME|requires (JDK|Java)|'java' command|UnsupportedClassVersion|NoClassDefFound",
    "Install Java 17, which the SDK's tools need, and set JAVA_HOME to it.",
)
# The first that fits counts: without a network, every package is one that is not found.
_INSTALLING = (
    (NOT_ACCEPTED, "Accept the licences: `yes | sdkmanager --licenses`."),
    (_NO_SPACE, "Make room on the disk of the SDK: a system image takes 2 to 8 GB."),
    _TOO_OLD,
    _JAVA,
    (
        r"did not end within",
        "The network may be slow: run `sdkmanager '{image}'` by hand once, which takes the time"
        " that it needs.",
    ),
    (
        r"failed to download|IO ?exception|unknown ?host|connect|timed? ?out|checksum"
        r"|not (a ZIP archive|in GZIP format)",
        "Check the way to the network; behind a proxy, `sdkmanager --proxy=http --proxy_host=…"
        " --proxy_port=… '{image}'` installs it by hand.",
    ),
    (
        r"not writable|permission denied|access ?denied|read-only",
        "Give this user the right to write to the folder of the SDK, or set ANDROID_HOME to one"
        " of its own.",
    ),
    (
        r"failed to find package|not found|unavailable",
        "There is no image {image}: `sdkmanager --list` shows those that there are; choose another"
        " api, image or abi.",
    ),
)
_CREATING = (
    (
        r"package path is not valid",
        "avdmanager does not know {image}, which sdkmanager has installed: one of them is of"
        " another SDK, or avdmanager is too old for the image. `sdkmanager 'cmdline-tools;latest'`"
        " brings a new one; ANDROID_HOME must be the SDK of both.",
    ),
    _TOO_OLD,
    _JAVA,
    (_NO_SPACE, "Make room on the disk of the virtual devices, {home}: each takes 2 to 8 GB."),
)


def installing_hint(said: str, image: str | None) -> str:
    """Return what to do about a complaint of ``sdkmanager``; without an image, of its licences."""
    wanted = image or "--licenses"
    for pattern, hint in _INSTALLING:
        if re.search(pattern, said, re.IGNORECASE):
            return hint.format(image=wanted)
    return f"Run `sdkmanager '{wanted}'` by hand to see what is wrong."


def creating_hint(said: str, *, image: str, home: str) -> str:
    """Return what to do about a complaint of ``avdmanager`` that creates a virtual device."""
    for pattern, hint in _CREATING:
        if re.search(pattern, said, re.IGNORECASE):
            return hint.format(image=image, home=home)
    return (
        f"The folder of the virtual devices ({home}) must be writable, and {image} whole:"
        " `sdkmanager --uninstall` removes it, so that it is installed anew."
    )
