"""The small programs of the system image that adb clients and testers call.

Each module holds related programs; ``options`` and ``inputs`` are what they share.
"""
