"""The phone's shell, as adb clients use it.

``service`` connects it to adb, ``runner`` runs scripts that ``syntax`` has parsed, ``expansion``
turns their words into arguments, ``shell`` keeps a shell's state and calls the ``commands``. What
has no caller is left out: other syntax is an error that names it, another command answers
"inaccessible or not found".
"""
