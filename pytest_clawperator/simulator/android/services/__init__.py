"""Commands that a system service answers: am, pm, input, settings, wm and the rest of ``cmd``."""
