"""WHAT IS WRONG: the checks of a computer and its devices, and what fixes them.

``examine`` gathers ``facts`` in a few round trips, puts them to the ``checks`` one by one and
returns a ``report``. A new check is a pure function from facts to a finding, and a row in
``examine``.
"""
