"""TESTS IN YAML: ``test_*.claw.yaml`` files, read into Python syntax trees.

A file is read into the tree of the Python functions that it stands for, with the YAML's own lines
as their positions. So it runs as they do, fails at its own lines, and can be written as Python.
"""
