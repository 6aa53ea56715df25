"""The steps that scroll a list, and the one swipe that they are made of."""
