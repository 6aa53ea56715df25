"""What the Operator says: step results, the result envelope and its log."""
