"""ANOTHER HOST: devices of a machine that runs ``clawperator serve`` or ``clawperator-py serve``.

``http`` asks it, ``leases`` leases its devices, ``tunnel`` reaches its adb server, ``runner``
opens a device there and runs executions on it.
"""
