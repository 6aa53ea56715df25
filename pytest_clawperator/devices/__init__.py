"""Which device: what is connected, whether it is ready, and the Operator app on it."""
