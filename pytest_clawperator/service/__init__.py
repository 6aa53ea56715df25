"""FOR OTHER HOSTS: the devices of this machine over HTTP.

``rack`` knows the devices and runs executions on them; ``published/`` is the API of the
published host program, ``v1/`` what it lacks for testing, ``page/`` what people see. ``gate``
decides who may ask, ``front`` takes the connections, ``server`` runs it all.
"""
