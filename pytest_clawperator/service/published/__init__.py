"""The API of the published host program, under its old and its new paths."""
