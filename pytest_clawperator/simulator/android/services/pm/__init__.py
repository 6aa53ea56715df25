"""``pm``, the package manager's command: one module for each group of its subcommands."""
