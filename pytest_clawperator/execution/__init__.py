"""THE RUN: one execution from payload to processed envelope.

The stages are in ``pipeline``, each stage in the module named after it. The API that tests call
is in ``client/``.
"""
