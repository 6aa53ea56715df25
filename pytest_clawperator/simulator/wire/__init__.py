"""The adb wire: adbd, its sync service, the emulator console, and a private adb server."""
