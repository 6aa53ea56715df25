"""IS IT AS SAID: expectations about screens, nodes and envelopes, which wait."""
