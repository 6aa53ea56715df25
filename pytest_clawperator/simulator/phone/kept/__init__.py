"""A phone that is kept and brought back: for snapshots of emulators, and across their starts."""
