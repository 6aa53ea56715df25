"""WHAT A TEST HOLDS: the client and its methods, locators, the prompt.

How a method becomes an execution is in ``plan/``, several in one in ``batch/``, and what is
no action (shell, files, settings) in ``device/``.
"""
