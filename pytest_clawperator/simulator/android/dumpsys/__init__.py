"""``dumpsys``: the services that describe themselves."""
