"""Which device a process has: candidates, leases, connections, spare devices, the fixtures."""
