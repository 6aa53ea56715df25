"""Recordings: starting, stopping and fetching one, and the steps that it consists of."""
