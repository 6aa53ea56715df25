"""Several actions of the client in one execution."""
