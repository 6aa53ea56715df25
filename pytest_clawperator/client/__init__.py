"""WHAT A TEST HOLDS: the client and its methods, locators, batches, the device.

A method makes a plan (``plans``), its node is found and its action sent (``perform``), and
what the screen showed is judged (``judge``).
"""
