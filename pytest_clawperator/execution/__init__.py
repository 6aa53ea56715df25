"""THE RUN: one execution from payload to processed envelope.

The stages are in ``pipeline``, each stage in the module of its name; ``remote/`` runs through
another host. What a test writes is in ``client/``.
"""
