"""The first files of a project: what is in them, what is there already, and writing them."""
