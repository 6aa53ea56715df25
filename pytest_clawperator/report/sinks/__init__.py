"""Other people's reports: each module is one that gets what happens in a test, and its files."""
