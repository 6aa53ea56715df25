"""HOW BYTES TRAVEL: the adb server's protocol, the log stream, shells, files and quoting.

Here belongs all that opens a connection to a device (``adb``, ``wire``, ``warm_shell``,
``files``), keeps its log (``log/``) or finds and starts adb (``binary``, ``server``,
``reconnect``). What a run needs of it is ``interface``.
"""
