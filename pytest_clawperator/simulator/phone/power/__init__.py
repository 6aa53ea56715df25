"""Going down and coming up."""
