"""Films of the screen: frames as JPEG in an MP4 file."""
