"""HOW BYTES TRAVEL: adb, the log stream, and the device shell's quoting."""
