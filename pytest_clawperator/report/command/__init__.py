"""The command about reports: rebuilds and merges them, shows them, and packs a test."""
