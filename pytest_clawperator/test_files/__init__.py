"""TESTS IN YAML: ``test_*.claw.yaml`` files, read into Python syntax trees.

A file becomes the syntax tree of the Python functions that it stands for, with the lines of the
YAML file as positions. So it runs like them, fails at its own lines, and can be printed as Python.
"""
