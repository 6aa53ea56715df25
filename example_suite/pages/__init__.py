"""Page objects: what can be done on the screens of each app, in the words of its users."""
