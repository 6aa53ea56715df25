"""The language in app files: expressions such as ``count > 0``, and texts with values in braces."""
