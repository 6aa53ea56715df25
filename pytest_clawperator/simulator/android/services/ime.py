"""``ime``: the keyboards, and which of them is used."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    ServiceHandler,
    dispatch,
)

_LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"

_VOICE = (
    "com.google.android.tts/com.google.android.apps.speech.tts.googletts.settings.asr.voiceime"
    ".VoiceInputMethodService"
)

INPUT_METHODS = (_LATIN, _VOICE)
"""The keyboards that are installed."""


async def _ime_list(call: ServiceCall) -> int:
    words = call.rest()
    enabled = (call.system.settings.get("secure", "enabled_input_methods") or "").split(":")
    for name in INPUT_METHODS:
        if "-a" in words or name in enabled:
            shown = name if "-s" in words else f"{name}:\n  mId={name}"
            await call.out(shown)
    return 0


def _ime_change(verb: str) -> ServiceHandler:
    async def change(call: ServiceCall) -> int:
        while (option := call.option()) is not None:
            if option == "--user":
                call.required()
        name = call.required()
        if name not in INPUT_METHODS:
            word = {"enable": "enabled", "set": "selected"}[verb]
            await call.err(f"Unknown input method {name} cannot be {word} for user #0")
            return FAILED
        await call.out(_apply_ime(call, verb, name))
        return 0

    return change


def _apply_ime(call: ServiceCall, verb: str, name: str) -> str:
    settings = call.system.settings
    enabled = [n for n in (settings.get("secure", "enabled_input_methods") or "").split(":") if n]
    if verb == "set":
        settings.put("secure", "default_input_method", name)
        return f"Input method {name} selected for user #0"
    if name in enabled:
        return f"Input method {name}: already enabled for user #0"
    settings.put("secure", "enabled_input_methods", ":".join([*enabled, name]))
    return f"Input method {name}: now enabled for user #0"


async def ime_service(call: ServiceCall) -> int:
    """Answer ``cmd input_method``, which is what ``ime`` is."""
    word = call.peek()
    if word == "ime":
        call.next()
    commands: Mapping[str, ServiceHandler] = {
        "enable": _ime_change("enable"),
        "list": _ime_list,
        "set": _ime_change("set"),
    }
    usage = "ime <command>:\n  list [-a] [-s]\n  enable ID\n  set ID\n"
    return await dispatch(call, commands, usage=usage)
