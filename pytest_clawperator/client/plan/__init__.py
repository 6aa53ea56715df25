"""From the arguments of a method to its value.

A plan is made (``action_plans``, ``scroll_plans``), its node is found (``target``, ``finder``),
it is carried out (``performer``, ``page_search``), and a failure is explained (``explain``).
"""
