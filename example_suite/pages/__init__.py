"""Page objects: one class for each app, with the actions and nodes that its tests use."""
