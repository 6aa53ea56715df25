"""WHAT IS NOT TOLD: secrets, and how they are hidden in what leaves the process."""
