"""FOR PEOPLE: the command line ``clawperator-py``.

``app`` runs a command line, ``command`` has the table of commands; each group of commands has its
own module.
"""
