"""The Operator app: from a broadcast to its result envelope.

``parser`` reads a payload into ``command``s, ``executor`` runs them with the modules of steps,
and ``envelope`` and ``operator_log`` write the answer. ``app`` ties them together.
"""
