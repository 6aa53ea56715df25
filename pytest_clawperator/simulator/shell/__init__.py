"""The device's shell: a POSIX shell's language, its tools, and adb's shell services."""
