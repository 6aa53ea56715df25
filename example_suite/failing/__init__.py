"""Tests that fail on purpose, to show how failures read."""
