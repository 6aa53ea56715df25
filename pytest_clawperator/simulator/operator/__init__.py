"""The Operator app: from a broadcast to its result envelope.

``payload/`` reads what was asked, ``steps/`` does it, ``answer/`` says what came of it. The app,
its receiver and its executor stand here and connect the three; the host keeps the installed apps.
"""
