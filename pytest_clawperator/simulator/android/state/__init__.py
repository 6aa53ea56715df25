"""What a phone has: packages, processes, properties and settings, without any behaviour."""
