"""What an accessibility service sees: nodes, how they are printed and found, and events."""
