"""Several actions of the client in one execution: collecting them, and sending them."""
