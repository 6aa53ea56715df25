"""The emulators of one run: claimed, started side by side, and ended with it."""
