"""Phones that the run itself starts, and ends: emulators and simulated phones."""
