"""What the user asked for: options, ini values and markers, parsed into typed values."""
