"""What a user can do to a screen: touches, keys, typing, and actions on single nodes."""
