"""WHAT IS WRONG WITH IT: the checks of a computer and its devices, and what mends them.

``examination`` gathers the facts of a device in a few round trips (``host_facts``,
``device_facts``), puts them to the checks one by one and returns a ``report``. A check is a
pure function from facts to a finding, in ``host_checks``, ``operator_checks``, ``log_checks``
and ``condition_checks``; a new one is such a function and a row in ``examination``.
``mending`` takes the steps that findings list, and ``table`` shows a report to people.
"""
