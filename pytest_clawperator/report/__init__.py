"""WHAT HAPPENED: evidence and reports, made from plain data."""
