"""THE RUN: one execution from payload to processed envelope.

The stages are in ``pipeline``, each stage in the module of its name. What a test writes is in
``client/``.
"""
