"""The checks of expectations: each judges one look at its subject, and nothing here waits."""
