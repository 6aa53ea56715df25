"""What the Operator does: one module for each kind of step, and what the steps share."""
