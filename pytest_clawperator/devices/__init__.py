"""WHICH DEVICE: what is connected, who holds it, and whether it and its Operator are ready.

``inventory`` lists devices, ``spec`` and ``requirements`` state which are wanted, ``lease`` and
its stores keep others off them, ``pool`` shares them among the workers of a run, ``operator``
and ``health`` make them work, ``connection`` opens a client on one.
"""
