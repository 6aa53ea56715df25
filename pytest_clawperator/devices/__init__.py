"""WHICH DEVICE: what is connected, whose it is, and whether it and its Operator are ready.

``inventory`` lists devices, ``requirements``, ``spec`` and ``matrix`` say which are wanted,
``lease`` and its stores keep others off them, ``pool`` shares them among the workers of a run,
``readiness``, ``operator`` and ``health`` make them work, ``connection`` opens a client on one.
"""
