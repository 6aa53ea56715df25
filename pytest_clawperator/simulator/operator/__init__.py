"""The Operator app: from a broadcast to its result envelope."""
