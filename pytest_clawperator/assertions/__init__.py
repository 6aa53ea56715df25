"""IS IT AS SAID: ``expect`` and its checks, which wait until they hold.

What can be expected of each subject is in ``expect_*``; how a snapshot is judged in ``checks``.
"""
