"""The device beneath the client: its shell, files, apps, settings and keys."""
