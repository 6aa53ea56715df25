"""What is on the screen: apps declared in YAML, their state, layout, and the tree of nodes."""
