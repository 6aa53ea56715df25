"""A project that tests with pytest-clawperator."""
