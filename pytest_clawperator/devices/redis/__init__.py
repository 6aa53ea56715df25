"""Leases in Redis: their store, what a lease consists of, its permits, its renewal, the server."""
