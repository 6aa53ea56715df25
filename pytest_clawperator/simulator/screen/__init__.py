"""The screen of a simulated phone: its apps, what they show, and what touching it does.

``PhoneUi`` in ``phone_ui`` is what the rest of the simulator uses; it puts the rooms together.
A module imports from its own room and from the rooms above it in this list::

    app_files/       apps as their YAML files declare them
    accessibility/   the tree of nodes and the events that an accessibility service sees
    state/           what is installed, open and in front, and what is due when
    actions/         what apps and Android do: navigation, links, permissions, crashes
    windows/         what shows: the open pages laid out as windows of nodes
    user_input/      what a user can do: touches, keys, typing, actions on nodes
"""
