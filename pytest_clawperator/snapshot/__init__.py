"""WHAT IS ON SCREEN: hierarchies, extracted from the log and parsed into trees of nodes. Pure.

``parse`` reads a hierarchy, ``tree`` is the screen and its nodes, ``query`` finds nodes, and
``near_miss`` explains why none was found. ``golden`` is a screen as text that people edit, and
``golden_diff`` compares it with another screen.
"""
