"""IS IT AS SAID: ``expect`` and what it offers for each subject, which waits until it is so.

What a check wants and how one look is judged is in ``checks/``, golden screens in ``golden/``.
"""
