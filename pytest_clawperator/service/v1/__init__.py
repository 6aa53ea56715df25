"""What the published API lacks for testing: all that adb can do, and leases."""
