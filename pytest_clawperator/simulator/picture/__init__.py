"""Pictures of the screen."""
