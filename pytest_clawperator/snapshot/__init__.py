"""WHAT IS ON SCREEN: hierarchies, out of the log and as trees. Pure."""
