"""Widgets as windows have them: their kinds, their sizes, and the nodes that they become."""
