"""What Maestro calls a command, and how it is written in a test file here."""

from __future__ import annotations

#: Maestro's commands, with what is written here; what has no counterpart says why.
MAESTRO: dict[str, str] = {
    "launchApp": "`open_app: com.example.shop`",
    "stopApp": "`close_app: com.example.shop`",
    "killApp": "`close_app: com.example.shop`",
    "clearState": "`device: {clear_data: com.example.shop}`",
    "tapOn": "`click: OK`",
    "doubleTapOn": "`double_click: OK`",
    "longPressOn": "`long_click: OK`",
    "inputText": "`enter_text: {value: ada, id: email}`",
    "eraseText": "`clear: {id: email}`",
    "pressKey": "`press_key: back`, for other keys `device: {key_event: enter}`",
    "hideKeyboard": "`back`",
    "openLink": '`open_uri: "shop://item/3"`',
    "scrollUntilVisible": "`scroll_until: About phone`",
    "assertVisible": "`expect: OK`",
    "assertNotVisible": "`expect: {text: OK, not_to_be_visible: true}`",
    "extendedWaitUntil": "`expect: {text: Welcome, timeout: 20}`",
    "waitForAnimationToEnd": "nothing: steps and expectations wait for their node",
    "copyTextFrom": "`read_text: {id: total}`, with `as:` beside it",
    "takeScreenshot": "`screenshot: start.png`",
    "assertScreenshot": "`expect: {to_match_screenshot: start}`",
    "startRecording": "no step, but the option `--claw-video`",
    "stopRecording": "no step, but the option `--claw-video`",
    "runFlow": "`use: sign_in.claw.yaml`",
    "setOrientation": "`device: {orientation: landscape}`",
    "setAirplaneMode": "`device: {airplane_mode: true}`",
    "repeat": "Python: `clawperator-py convert` writes the test as a function",
    "retry": "Python: `clawperator-py convert` writes the test as a function",
    "runScript": "Python, as a fixture, which the file names",
    "evalScript": "Python, as a fixture, which the file names",
    "assertTrue": "Python: `clawperator-py convert` writes the test as a function",
    "addMedia": "`device: {push: {source: photo.jpg, path: /sdcard/Pictures/photo.jpg}}`",
}

_BY_PLAIN_NAME = {name.lower(): ours for name, ours in MAESTRO.items()}


def in_our_words(name: str) -> str | None:
    """Return what a command of Maestro is here, or None."""
    return _BY_PLAIN_NAME.get(name.replace("_", "").lower())
