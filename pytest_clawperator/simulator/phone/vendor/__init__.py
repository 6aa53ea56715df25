"""What the makers of phones do to all commands."""
