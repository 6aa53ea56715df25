"""One module for each feature: goldens, soft expectations, pausing, validating, payloads, apps."""
