"""The commands about skills: reading and checking them, running them, fetching and making them."""
