"""What payloads are made of: rules for values and actions, objects, the row of an action type."""
