"""What a phone does by itself: its time, and how it goes down and comes up."""
