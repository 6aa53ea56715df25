"""Android around the apps: packages, settings, processes, and the commands that people type."""
