"""What connects a phone to a host: adbd, file sync, the emulator console, the adb server."""
