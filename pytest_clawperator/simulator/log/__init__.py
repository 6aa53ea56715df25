"""The device's log: the ring buffer, logcat, and what other processes say."""
