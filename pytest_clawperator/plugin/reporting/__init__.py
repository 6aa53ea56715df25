"""What a run tells people: terminal, summary, tables, infrastructure errors."""
