"""What is installed, open and in front on a phone, and what is due at which time."""
