"""Running through another host: the HTTP API of ``clawperator serve``."""
