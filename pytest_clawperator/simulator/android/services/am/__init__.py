"""``am``: starts, stops and broadcasts, the configuration, and standby buckets of apps."""
