"""HOW BYTES TRAVEL: the adb server's protocol, the log stream, shells and files.

``adb`` is a device behind an adb server: its ``shell``, its log (``logcat``) and its ``files``,
over connections of ``wire``. ``server`` finds and starts an adb server, ``adb_program`` the
program for it. What a run needs of all this is ``interface``.
"""
