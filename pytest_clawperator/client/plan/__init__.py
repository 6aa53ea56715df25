"""From the arguments of a client method to what is sent: plans, targets, timing, failures."""
