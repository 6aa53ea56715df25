"""FOR PEOPLE: the command line ``clawperator-py``.

``app.py`` has the table of commands; ``commands/`` has one module for each group of them.
"""
