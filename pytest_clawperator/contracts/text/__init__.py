"""Text, numbers and JSON as the reference host understands them, and the wording of messages."""
