"""FOR OTHER HOSTS: the devices of this machine over HTTP.

``rack`` knows the devices and runs executions on them; ``published`` is the API of the published
host program, ``v1`` adds what it lacks for testing, ``page`` is for people. ``gate`` decides which
requests are allowed, ``server`` accepts connections and runs it all.
"""
