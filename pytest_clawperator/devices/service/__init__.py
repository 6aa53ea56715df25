"""Devices of another machine that runs ``clawperator-py serve``: all that adb can do."""
