"""The commands that send an execution, and what they share: its payload, its run, its answer."""
