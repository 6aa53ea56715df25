"""SETTING UP THE OPERATOR: from a file or a url to an app that answers.

``apk_source`` brings the file, ``set_up`` installs it, grants what it needs and waits for its
answer, ``compatibility`` says whether its version fits. What each step does on the device is
in ``devices/operator.py``.
"""
