"""Traces of tests: ``hooks`` follow pytest, ``tracer`` turns what happens into events.

``attempt_trace`` decides where they go and whether they are kept, ``places`` finds the lines
of the test, ``pictures`` takes a picture after each execution.
"""
