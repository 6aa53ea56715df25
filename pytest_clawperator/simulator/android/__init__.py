"""Android: the state of a phone, and the commands that read and change it."""
