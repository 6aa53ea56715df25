"""The programs of the simulated SDK: what they take, print and refuse."""
