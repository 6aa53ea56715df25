"""The device log: logd's ring buffers, logcat, and what other processes write."""
