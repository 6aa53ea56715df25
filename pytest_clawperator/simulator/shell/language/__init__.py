"""The shell language: from the text of a script to commands with their arguments.

``lexer`` and ``parser`` turn text into the values of ``syntax``; ``expansion`` and ``wildcards``
turn the words in them into arguments when a command runs. What the simulated shell does not
support is a syntax error here, never a guess.
"""
