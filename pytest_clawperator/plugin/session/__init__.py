"""What all rooms share during a run: its events, its id and folder, hook calls, the channel.

Nothing in here knows how devices are found, leased or reported.
"""
