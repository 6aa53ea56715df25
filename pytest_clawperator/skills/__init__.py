"""PACKAGED RECIPES: a registry of skills, their scripts and their compiled artefacts.

A skills repository is a folder with ``skills/skills-registry.json`` in it; all paths of the
registry begin in the repository. Nothing here knows pytest, devices or leases: the caller
chooses the device and the environment of a script.
"""
