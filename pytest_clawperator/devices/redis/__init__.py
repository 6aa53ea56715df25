"""A lease in Redis: what it consists of, its permits, its renewal, and the server."""
