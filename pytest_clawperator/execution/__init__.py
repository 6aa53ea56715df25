"""THE RUN: from a payload to a processed envelope."""
