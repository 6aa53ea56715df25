"""WHAT IS SAID: the payload, the envelope and their words. No I/O, no clock."""
