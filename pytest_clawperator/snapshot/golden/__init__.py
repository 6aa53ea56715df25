"""Golden trees as text: the grammar, the alignment with a screen, and the diff."""
