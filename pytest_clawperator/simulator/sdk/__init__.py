"""AN SDK IN THE BOX: Android's command line tools, which start simulated emulators.

``emulator``, ``avdmanager`` and ``sdkmanager`` are processes of their own that are called as the
real ones; ``simulation.json`` says how they behave. What starts a phone is imported late, so that
a tool answers at once.
"""
