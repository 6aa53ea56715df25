"""The screen of a simulated phone: its apps, what they show, and what touching it does.

``PhoneUi`` in ``phone_ui`` is what the rest of the simulator uses; it puts the parts together.
``simulator.apps`` has apps as their files declare them; ``tasks`` to ``phone_state`` hold what is
installed, open and in front; ``navigation`` to ``actions`` change it; ``widgets`` to ``windows``
lay it out as nodes; ``user_input`` is what a user can do to it.
"""
