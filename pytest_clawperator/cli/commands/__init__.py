"""The commands, one module for each group; each is imported only when it is called."""
