"""What the patterns of tools match: regular expressions, and classes of characters."""
