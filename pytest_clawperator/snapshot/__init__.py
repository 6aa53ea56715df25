"""WHAT IS ON SCREEN: hierarchies, extracted from the log and parsed into trees of nodes. Pure.

Here belongs how nodes are found (``query``, ``matching``, ``roles``) and what is said where none
is (``near_miss``, ``text_difference``). Screens as text that people edit are in ``golden/``.
"""
