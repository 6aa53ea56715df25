"""Android: the state of a phone, the system that changes it, and the commands that reach it.

``state/`` is data, ``managers/`` act on it, and ``services/``, ``programs/`` and ``dumpsys/`` are
what can be typed into a shell; ``commands.py`` is the table of all of that.
"""
