"""Parallel runs: the channel between controller and workers, and which worker runs which test."""
