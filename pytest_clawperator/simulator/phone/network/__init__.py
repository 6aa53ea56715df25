"""The network of a simulated phone: a loopback of its own, and what uses it."""
