"""What makers and versions do to a phone: how it is sold, its adbd and its commands."""
