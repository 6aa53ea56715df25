"""The log of a device: the stream that reads it, the lines that are kept, and its gaps."""
