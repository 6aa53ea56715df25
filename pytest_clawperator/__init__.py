"""pytest-clawperator."""
