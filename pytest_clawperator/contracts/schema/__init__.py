"""What the objects of a payload may hold: rules for values, and objects made of them."""
