"""What is kept of a test: screenshots, snapshots, logs, videos, and what its clients did."""
