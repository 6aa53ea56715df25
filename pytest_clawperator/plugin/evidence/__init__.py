"""What is kept of a test: screenshots, hierarchies, logs, videos, and what its clients did."""
