"""What shows: open pages laid out as windows of accessibility nodes."""
