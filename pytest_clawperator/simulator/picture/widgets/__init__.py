"""How each kind of widget looks in a picture: one painter for each kind."""
